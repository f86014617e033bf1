// Defines the records of the file `slow_calls`: calls of watched methods that lasted at least as
// long as `jprof trace --slow` asks, and how many calls there were. All records have the same size
// and begin with their kind. The profiled program writes the kind of a call last: a record without
// one is not complete.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profile/files/layout.h"

namespace jprof::profile {

inline constexpr char kSlowCallsFile[] = "slow_calls";

enum class SlowKind : uint32_t { kUnused = 0, kCall = 1, kCounts = 2 };

enum SlowFlags : uint32_t {
  kSlowNotKept = 1,  // its events are not in the profile: no space
  kSlowCut = 2,      // some of its events had been overwritten, or were never written
};

// A call that was slow. The numbers of events are those of its thread's trace, from 0.
struct SlowCall {
  SlowKind kind = SlowKind::kUnused;
  uint32_t thread = 0;  // index into the thread records
  MethodRef method{};
  uint32_t item = 0;         // of SLOW, which decided that it is watched, from 0
  uint64_t first_event = 0;  // its entry
  uint64_t last_event = 0;   // its exit
  uint64_t start_unix_ns = 0;
  uint64_t wall_ns = 0;
  int64_t cpu_ticks = 0;        // in which the thread ran, without the profiler's own cost
  int64_t off_cpu_ticks = 0;    // in which it did not run
  uint64_t virtual_thread = 0;  // the VM's identity of the virtual thread, or 0
  uint32_t flags = 0;           // SlowFlags
  uint32_t reserved = 0;
  uint64_t more_reserved[2] = {};
};
static_assert(sizeof(SlowCall) == 96);

// How many watched calls a row of the profile has had. It is counted in place.
struct SlowCounts {
  SlowKind kind = SlowKind::kUnused;
  uint32_t thread = 0;
  uint32_t reserved = 0;
  uint32_t item = 0;
  uint64_t calls = 0;    // that began
  uint64_t slow = 0;     // of them, those that ended and were slow
  uint64_t unended = 0;  // of them, those that were left without an exit
  uint64_t more_reserved[7] = {};
};
static_assert(sizeof(SlowCounts) == sizeof(SlowCall));

}  // namespace jprof::profile
