// Opens a profile named on the command line and its calibration table.
#pragma once

#include <string>

#include "common/result.h"
#include "reports/combined/combined.h"
#include "reports/tree/source.h"

namespace jprof::cli {

// The options for calibration. Without a file, the profile's own table is used, else the user's
// table that fits, else none.
struct TableChoice {
  std::string file;           // --table
  bool uncalibrated = false;  // do not subtract the profiler's overhead
  bool force = false;         // use the file even if it was made for another machine or JVM
};

// Returns the name of the newest profile in the working directory, or "" if there is none. With
// `combined`, it may be a combined profile.
std::string FindNewestProfile(bool combined);

// Returns the same and prints it on stderr. Fails with kWrongUse if there is none.
Result<std::string> NewestProfile(bool combined);

// Returns `directory`, or the busiest of several profiles in it, whose name it prints on stderr.
std::string BusiestIn(const std::string& directory);

// Opens a profile, which is the newest one in the working directory if `directory` is empty; its
// name is then printed on stderr. Fails if there is no profile (the message names the nearest), or
// if the table does not fit.
Result<reports::Source> OpenSource(const std::string& directory, const TableChoice& choice);

// Returns the directory of the counted run of a combined profile. Fails if runs.json is
// damaged or names none.
Result<std::string> CountedRun(const std::string& directory);

// Returns the runs of a combined profile as paths: "app.jprof/counted, app.jprof/sampled-1".
// Returns "" if its runs.json cannot be read.
std::string RunPaths(const std::string& directory);

// Opens a combined profile. Fails if it has no counted or no sampled run, or if
// one cannot be opened.
Result<reports::Combined> OpenCombined(const std::string& directory, const TableChoice& choice);

}  // namespace jprof::cli
