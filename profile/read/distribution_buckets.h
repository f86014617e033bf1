// How long the calls of one context took, as the file `distributions` has it
// (profile/files/distribution.h), without empty buckets.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/files/distribution.h"

namespace jprof::profile {

struct NumberedBucket {
  uint32_t number = 0;  // BucketOf
  TimedCalls calls;     // one or more
};

// Calls by one of the two clocks. The buckets are in ascending order.
struct Durations {
  TimedCalls shortest, longest;
  std::vector<NumberedBucket> buckets;

  uint64_t calls() const {
    uint64_t sum = 0;
    for (const NumberedBucket& bucket : buckets) sum += bucket.calls.calls;
    return sum;
  }
};

struct Distribution {
  uint32_t record = 0;  // of the context, in CallTree
  int64_t handler_ticks = 0;
  Durations cpu, elapsed;
};

}  // namespace jprof::profile
