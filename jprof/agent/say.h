// Messages to the person who started the program.
#pragma once

#include <string>

namespace jprof::agent {

// Prints "jprof: LINE" to standard error. Not from a signal handler or a probe.
void Say(const std::string& line);

}  // namespace jprof::agent
