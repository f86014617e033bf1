// Runs a program to its end and returns its output.
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

// Runs a program. argv[0] is looked up in PATH. JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, JPROFOPTS and
// JPROF_HOOKS are removed from its environment; its output is written to the file `log`, which is
// overwritten. The program leads its own process group. After `limit`, or once `interrupted` (may
// be empty) returns true, the group is killed and RunChild returns an error.
Result<ChildResult> RunChild(const std::vector<std::string>& argv, const std::filesystem::path& log,
                             std::chrono::seconds limit,
                             const std::function<bool()>& interrupted = {});

}  // namespace jprof::calibrate
