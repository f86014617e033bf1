// How long the calls of watched methods took, one by one (`jprof callflow --distribution`), without
// the profiler's share.
//
// A call's time as it was measured includes the cost of the events inside it, of which only means
// are known. Each bucket has their number, so that they can be subtracted from its calls:
//
//   time of a call = ticks - handlers * mean handler - intervals * mean overhead
//
// The mean handler is that of the events that were not timed alone, inside these calls and, where
// these were few, inside all watched calls. The mean overhead is what calibration subtracts from
// the context with all below it, divided by its intervals (calibrate/model/correct.h). The sum over
// all calls is therefore the context's inclusive value.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tree/forest.h"
#include "profile/read/distribution_buckets.h"

namespace jprof::model {

// Calls, and sums over them in the metric's unit, ns.
struct CallTimes {
  uint64_t calls = 0;
  double measured = 0;  // with the profiler's share
  double removed = 0;   // this share; below 0 if calibration adds

  // Return the mean of a call. It is not below 0.
  double mean() const;
  double mean_measured() const { return calls == 0 ? 0 : measured / static_cast<double>(calls); }
  CallTimes& operator+=(const CallTimes& other);
};

// A time of which a known number of calls took no more, and how far it can be trusted.
struct CallTime {
  double time = 0;     // corrected
  bool vague = false;  // more than half of what was measured is the profiler's: `time` is a guess
  double most = 0;     // what it can be at most, which is said in place of a guess

  CallTime() = default;
  // With the profiler's share a time is what was measured, which it can be at most.
  CallTime(double corrected, double measured)
      : time(corrected), vague(2 * corrected < measured), most(measured) {}
};

// What is said of the calls of a histogram. The times from the least to the longest ascend, and no
// `most` is above that of a longer one, or above the longer one if that is no guess.
struct CallSummary {
  CallTime least, p50, p90, p99, longest;
  CallTime mean;
};

// The calls of contexts by one clock.
struct TimeHistogram {
  struct Bucket {
    uint32_t number = 0;  // profile::BucketOf, by the time as it was measured
    CallTimes calls;
  };
  std::vector<Bucket> buckets;  // in ascending order; none is empty
  // The shortest and the longest call by the time as it was measured or, where correction makes a
  // bucket's mean shorter or longer than it, that bucket.
  CallTimes shortest, longest;
  double tick = 1;  // in ns

  CallTimes All() const;
  // Returns the time that a share `q` of the calls, from 0 to 1, did not exceed: the buckets are in
  // the order of their corrected means. It is known to the width of a bucket, which is a quarter of
  // its least time as measured, and interpolated in it. It is known exactly if the call is the only
  // one of its bucket. Returns 0 without calls.
  CallTime Quantile(double q) const;
  CallTime Shortest() const { return {shortest.mean(), shortest.mean_measured()}; }
  CallTime Longest() const { return {longest.mean(), longest.mean_measured()}; }
  CallSummary Summary() const;

  TimeHistogram& operator+=(const TimeHistogram& other);
};

// The calls of a row, or of several.
struct Distribution {
  TimeHistogram cpu, elapsed;
  uint64_t entered = 0;  // calls of the rows; more than were timed if some have not ended

  Distribution& operator+=(const Distribution& other);
};

struct RowDistribution {
  NodeIndex row = kNoNode;
  Distribution distribution;
};

// Returns the distributions of all rows that have one, in ascending order of their rows. Returns
// none if the first metric of the forest is not a time.
std::vector<RowDistribution> DistributionsOf(const Forest& forest);

struct MethodDistribution {
  profile::MethodId method{};
  uint64_t contexts = 0;
  Distribution distribution;
};
// Returns their sums by method, in the order in which the methods come first.
std::vector<MethodDistribution> SumByMethod(const Forest& forest,
                                            const std::vector<RowDistribution>& rows);

// Returns the patterns of the recording that selected no method, as they are in the options of the
// profile.
std::vector<std::string> UnmatchedPatterns(const profile::Reader& reader);

}  // namespace jprof::model
