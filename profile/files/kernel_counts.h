// Defines the records of the file `kernel_counts`, which `jprof timeline` adds to a profile.
#pragma once

#include <cstdint>

namespace jprof::profile {

// What the kernel did while a node was current. `jprof timeline` writes these, one for each node
// that had any of it.
struct KernelCounts {
  uint32_t node = 0;
  uint32_t dispatches = 0;  // times that the thread stopped on its processor in it
  uint32_t interrupts = 0;  // without those nested in others
  uint32_t reserved = 0;
  uint64_t interrupt_ns = 0;  // their time
};
static_assert(sizeof(KernelCounts) == 24);

}  // namespace jprof::profile
