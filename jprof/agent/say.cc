#include "jprof/agent/say.h"

#include <cstdio>

namespace jprof::agent {

void Say(const std::string& line) {
  std::fprintf(stderr, "jprof: %s\n", line.c_str());
  std::fflush(stderr);
}

}  // namespace jprof::agent
