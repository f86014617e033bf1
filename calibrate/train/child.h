// Runs a program to its end and keeps what it printed.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::calibrate {

struct ChildResult {
  int status = 0;      // exit status; 128 + signal if it was killed
  std::string output;  // stdout and stderr together
};

// argv[0] is looked up in PATH. JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS and JPROFOPTS are taken out of
// its environment; its output goes through `log` (a file that is overwritten). It leads a process
// group of its own; the group is killed, and that is an error, after `limit` or once `interrupted`
// (may be empty) says so.
Result<ChildResult> RunChild(const std::vector<std::string>& argv, const std::filesystem::path& log,
                             std::chrono::seconds limit,
                             const std::function<bool()>& interrupted = {});

}  // namespace jprof::calibrate
