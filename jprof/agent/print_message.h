// Messages for the user.
#pragma once

#include <string>

namespace jprof::agent {

// Prints "jprof: LINE" to standard error. Not from a signal handler or a probe.
void PrintMessage(const std::string& line);

}  // namespace jprof::agent
