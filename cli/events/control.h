// What `jprof ctl` does with the events of programs.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"

namespace jprof::cli {

// Lists the levels of a program's events, or changes them: each change is PATTERN=LEVEL, or
// "reset". The program is a process id or the directory of its trace.
Result<int> ControlEvents(const std::string& program, const std::vector<std::string>& changes,
                          double timeout);

// Prints a line for each trace that can be controlled. Returns how many there are.
size_t ListLiveTraces();

}  // namespace jprof::cli
