// Defines the records of the file `distributions`: how long the calls of watched methods took, one
// by one, in runs of `jprof callflow --distribution`. Each context of a watched method has one.
//
// A call is in the bucket of its ticks as they were measured. Of each bucket it is known how many
// events of the profiler its calls contain, so that a reader can subtract their cost
// (model/sums/distributions.h).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace jprof::profile {

inline constexpr char kDistributionsFile[] = "distributions";

// Each power of two is divided into four buckets: no bucket is wider than a quarter of its least
// value. The first four have one value each, and the last one has everything above it, too.
inline constexpr uint32_t kBucketsOfOctave = 4;
inline constexpr uint32_t kDurationBuckets = 192;

// Returns the bucket of a duration in ticks.
constexpr uint32_t BucketOf(uint64_t ticks) {
  if (ticks < kBucketsOfOctave) return static_cast<uint32_t>(ticks);
  const auto octave = static_cast<uint32_t>(std::bit_width(ticks)) - 3;
  return std::min(kDurationBuckets - 1,
                  octave * kBucketsOfOctave + static_cast<uint32_t>(ticks >> octave));
}

// Returns the least ticks of a bucket. Those of the next one are where it ends.
constexpr uint64_t BucketBegin(uint32_t bucket) {
  if (bucket < 2 * kBucketsOfOctave) return bucket;
  const uint32_t octave = bucket / kBucketsOfOctave - 1;
  return uint64_t{kBucketsOfOctave + bucket % kBucketsOfOctave} << octave;
}
static_assert(BucketOf(7) == 7 && BucketOf(8) == 8 && BucketOf(9) == 8 && BucketOf(10) == 9);
static_assert(BucketBegin(8) == 8 && BucketBegin(9) == 10 && BucketBegin(12) == 16);
static_assert(BucketOf(BucketBegin(191)) == 191 && BucketOf(BucketBegin(191) - 1) == 190);

// The calls of a bucket, or one call.
struct TimedCalls {
  uint64_t calls = 0;
  uint64_t ticks = 0;   // their sum
  uint64_t events = 0;  // of the profiler, inside the calls: all but the entry of each
  uint64_t timed = 0;   // those of them whose handlers were timed alone, and are not in `ticks`
};

struct DurationRecord {
  TimedCalls shortest, longest;  // one call each, or none
  TimedCalls buckets[kDurationBuckets] = {};
};

struct DistributionRecord {
  uint32_t node = 0;
  uint32_t reserved = 0;
  // The ticks of the handlers inside these calls, except for those of events that were timed alone,
  // as the share of them that was timed estimates them.
  int64_t handler_ticks = 0;
  uint64_t more_reserved[6] = {};
  DurationRecord cpu;      // while the thread was running
  DurationRecord elapsed;  // by the clock on the wall
};
static_assert(sizeof(TimedCalls) == 32 && sizeof(DistributionRecord) == 64 + 2 * 194 * 32);

}  // namespace jprof::profile
