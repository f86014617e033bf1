#include "profile/read/reading_memory.h"

#include "common/control_group.h"

namespace jprof::profile {

// If the available memory is unknown there is no limit, and malloc reports when it is exhausted.
uint64_t ReadingMemory() { return AvailableMemory().value_or(UINT64_MAX) / 2; }

std::unexpected<Error> NotEnoughMemory(std::string_view file, uint64_t memory) {
  return Fail(
      "{}: reading it takes more than half of the memory that is available ({} MiB); free some, or "
      "read it on a "
      "machine that has more",
      file, memory >> 20);
}

}  // namespace jprof::profile
