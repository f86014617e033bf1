#include "profile/reading_memory.h"

#include <cstdio>

namespace jprof::profile {

uint64_t ReadingMemory() {
  uint64_t kibibytes = UINT64_MAX / 1024;  // not known: then malloc says when there is no more
  if (std::FILE* file = std::fopen("/proc/meminfo", "re")) {
    char line[128];
    while (std::fgets(line, sizeof(line), file) != nullptr) {
      unsigned long long found = 0;
      if (std::sscanf(line, "MemAvailable: %llu kB", &found) == 1) kibibytes = found;
    }
    std::fclose(file);
  }
  return kibibytes * 1024 / 2;
}

std::unexpected<Error> NotEnoughMemory(std::string_view file, uint64_t memory) {
  return Fail(
      "{}: reading it takes more than half of the memory that is available ({} MiB); free some, or "
      "read it on a "
      "machine that has more",
      file, memory >> 20);
}

}  // namespace jprof::profile
