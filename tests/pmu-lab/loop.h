// Work with a known number of instructions, and the event that counts them.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>

#include "ptm/event_group.h"

namespace jprof::pmu_lab {

inline const ptm::EventSpec kInstructions{
    "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0, ptm::kExcludeKernel};
inline const ptm::EventSpec kCycles{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0,
                                    0,        ptm::kExcludeKernel};

// Instructions that each turn of Turn() executes: the subtraction and the branch.
inline constexpr int64_t kPerTurn = 2;

// Not inlined: all callers execute the same instructions around the loop.
[[gnu::noinline]] inline void Turn(uint64_t turns) {
  asm volatile(
      "1: subs %0, %0, #1\n"
      "   b.ne 1b\n"
      : "+r"(turns)
      :
      : "cc");
}

// Counts of the first event of `group` over Turn(turns), including one read and the call of it.
[[gnu::noinline]] inline int64_t CountTurns(ptm::EventGroup& group, uint64_t turns) {
  const int64_t before = ptm::Read(group.slot(0));
  Turn(turns);
  return ptm::Read(group.slot(0)) - before;
}

}  // namespace jprof::pmu_lab
