// Reads a hardware counter in user space on x86-64. Included by ptm/event_group.h only.
#pragma once

#include <cstdint>

namespace jprof::ptm::arch {

// Added to perf_event_attr.config1 to request user access. This architecture does not require it.
inline constexpr uint64_t kUserAccess = 0;

// Reads a counter. `counter` is the mapped page's index - 1 (Intel's fixed counters have bit 30
// set). Faults unless the kernel permits it, which the page's cap_user_rdpmc reports.
struct CounterRegister {
  static uint64_t Read(uint32_t counter) {
    uint32_t low;
    uint32_t high;
    asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
    return static_cast<uint64_t>(high) << 32 | low;
  }
};

}  // namespace jprof::ptm::arch
