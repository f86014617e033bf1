#include "jprof/agent/print_message.h"

#include <cstdio>

namespace jprof::agent {

void PrintMessage(const std::string& line) {
  std::fprintf(stderr, "jprof: %s\n", line.c_str());
  std::fflush(stderr);
}

}  // namespace jprof::agent
