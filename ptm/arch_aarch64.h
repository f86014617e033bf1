// Reads a hardware counter in user space on AArch64 (PMUv3). Included by ptm/event_group.h only.
#pragma once

#include <cstdint>

namespace jprof::ptm::arch {

// Added to perf_event_attr.config1, where bit 1 asks the Arm PMU driver for user access. The kernel
// grants it if /proc/sys/kernel/perf_user_access is 1; otherwise the mapped page's index stays 0.
inline constexpr uint64_t kUserAccess = 2;

// Reads a counter. `counter` is the mapped page's index - 1: 0-30 are event counters, 31 is
// the cycle counter. The register number is part of the instruction, so each register needs
// its own instruction.
struct CounterRegister {
  static uint64_t Read(uint32_t counter) {
#define JPROF_COUNTER(n)                                      \
  case n:                                                     \
    asm volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)); \
    return value;
    uint64_t value = 0;
    switch (counter) {
      JPROF_COUNTER(0)
      JPROF_COUNTER(1)
      JPROF_COUNTER(2)
      JPROF_COUNTER(3)
      JPROF_COUNTER(4)
      JPROF_COUNTER(5)
      JPROF_COUNTER(6)
      JPROF_COUNTER(7)
      JPROF_COUNTER(8)
      JPROF_COUNTER(9)
      JPROF_COUNTER(10)
      JPROF_COUNTER(11)
      JPROF_COUNTER(12)
      JPROF_COUNTER(13)
      JPROF_COUNTER(14)
      JPROF_COUNTER(15)
      JPROF_COUNTER(16)
      JPROF_COUNTER(17)
      JPROF_COUNTER(18)
      JPROF_COUNTER(19)
      JPROF_COUNTER(20)
      JPROF_COUNTER(21)
      JPROF_COUNTER(22)
      JPROF_COUNTER(23)
      JPROF_COUNTER(24)
      JPROF_COUNTER(25)
      JPROF_COUNTER(26)
      JPROF_COUNTER(27)
      JPROF_COUNTER(28)
      JPROF_COUNTER(29)
      JPROF_COUNTER(30)
      case 31:
        asm volatile("mrs %0, pmccntr_el0" : "=r"(value));
        return value;
      default:
        return value;
    }
#undef JPROF_COUNTER
  }
};

}  // namespace jprof::ptm::arch
