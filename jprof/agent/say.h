// One line to the person who started the program.
#pragma once

#include <string>

namespace jprof::agent {

void Say(const std::string& line);

}  // namespace jprof::agent
