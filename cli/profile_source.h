// A profile named on the command line, opened with the calibration table that it is to be corrected
// with.
#pragma once

#include <string>

#include "common/result.h"
#include "reports/source.h"

namespace jprof::cli {

// What the person said of calibration. Without a file: the profile's own table, else the user's
// that fits, else none.
struct TableChoice {
  std::string file;           // --table
  bool uncalibrated = false;  // leave the profiler's own cost in
  bool force = false;         // use the file even if it was made for another machine or JVM
};

// `directory` empty: the newest profile in the working directory, which one is said on stderr.
// Error: no profile (names the nearest), or a table that does not fit.
Result<reports::Source> OpenSource(const std::string& directory, const TableChoice& choice);

}  // namespace jprof::cli
