// Groups the times in which threads did not run by what they waited for, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/events/stretch_sums.h"

namespace jprof::model {

struct WaitGroup {
  uint32_t thread = 0;   // index of one of its threads, which all have the same name and process
  uint32_t threads = 0;  // how many these are
  WaitReason reason = WaitReason::kOther;
  std::string detail;    // what the JVM says of it (WaitReasons::DetailOf)
  int32_t call = -1;     // the system call, if there is no context
  uint64_t context = 0;  // where they waited
  uint64_t count = 0;
  uint64_t waited = 0, longest = 0;  // ns until they were ready
  uint64_t ready = 0;                // ns from then on, until they ran
  uint32_t waker = kNoThread;        // the most frequent one, or kInterrupt
  uint64_t waker_count = 0;
};

// Returns the groups of the chosen threads, by index, those with the longest times first.
std::vector<WaitGroup> GroupWaits(const Stretches& stretches, WaitReasons& reasons,
                                  const std::vector<bool>& chosen);

}  // namespace jprof::model
