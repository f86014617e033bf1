// Opens a profile named on the command line and its calibration table.
#pragma once

#include <string>

#include "common/result.h"
#include "reports/combined.h"
#include "reports/source.h"

namespace jprof::cli {

// The options for calibration. Without a file: the profile's own table, else the user's table that
// fits, else none.
struct TableChoice {
  std::string file;           // --table
  bool uncalibrated = false;  // do not subtract the profiler's overhead
  bool force = false;         // use the file even if it was made for another machine or JVM
};

// The name of the newest profile in the working directory; "": there is none. `combined`: or
// combined profile.
std::string FindNewestProfile(bool combined);

// The same, printed on stderr. Wrong use: there is none.
Result<std::string> NewestProfile(bool combined);

// `directory`, or the busiest of several profiles in it; that one's name is printed on stderr.
std::string BusiestIn(const std::string& directory);

// `directory` empty: the newest profile in the working directory; its name is printed on stderr.
// Error: there is no profile (the message names the nearest), or the table does not fit.
Result<reports::Source> OpenSource(const std::string& directory, const TableChoice& choice);

// The directory of the counted run of a combined profile. Error: runs.json is damaged or names
// none.
Result<std::string> CountedRun(const std::string& directory);

// The runs of a combined profile as paths: "app.jprof/counted, app.jprof/sampled-1"; "" if its
// runs.json cannot be read.
std::string RunPaths(const std::string& directory);

// Opens a combined profile. Error: it has no counted or no sampled run, or one cannot be opened.
Result<reports::Combined> OpenCombined(const std::string& directory, const TableChoice& choice);

}  // namespace jprof::cli
