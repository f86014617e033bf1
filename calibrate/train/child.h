// Runs a program to its end and keeps what it printed.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::calibrate {

struct ChildResult {
  int status = 0;      // exit status; 128 + signal if it was killed
  std::string output;  // stdout and stderr together
};

// argv[0] is looked up in PATH. JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS and JPROFOPTS are taken out of its environment;
// its output goes through `log` (a file that is overwritten). Killed, and an error, after `limit`.
Result<ChildResult> RunChild(const std::vector<std::string>& argv, const std::filesystem::path& log,
                             std::chrono::seconds limit);

}  // namespace jprof::calibrate
