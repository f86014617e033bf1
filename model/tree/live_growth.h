// Estimates how many objects exist, and how their number grows, from objects that were followed.
// All functions are pure.
//
// A followed object that was sampled with the probability p and has the value s stands for
// v = s / p (profile/files/allocation_sample.h). The sum of v over those that exist at a snapshot
// estimates the sum of s over all objects. Objects are sampled independently of each other, so the
// variance of that sum is estimated by the sum of (1 - p) v^2 (Horvitz and Thompson, 1952). Its
// interval is that of a Poisson count with the same relative variance, which is right for few
// objects, too. Where every object is counted, p is 1 and the interval has no width.
//
// Growth is the slope of the least-squares line through the sums L_i at the times t_i, which is the
// sum of c_i L_i with c_i = (t_i - t) / S, where t is the mean of the times and S the sum of
// (t_i - t)^2. It has two errors:
// - of the sample: the slope is also the sum of v a over the objects, where a is the sum of c_i
//   over the snapshots at which the object exists. Its variance is the sum of (1 - p) (v a)^2.
// - of the line, which the sums do not follow exactly: with n snapshots, the variance is the sum of
//   the squared residuals / (n - 2) / S, and its arm comes from Student's t with n - 2 degrees of
//   freedom.
// The arm of the slope is the root of the sum of the squares of both arms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/values/statistics.h"

namespace jprof::model {

// An object, or several that are counted and not sampled.
struct Followed {
  uint32_t first = 0, last = 0;  // the snapshots at which it exists, from 1 on
  double value = 0;              // 1, or its bytes
  double probability = 1;        // greater than 0
};

// The sum of all objects at a snapshot.
class LiveSum {
 public:
  explicit LiveSum(uint32_t snapshot = 0) : snapshot_(snapshot) {}
  void Add(const Followed& object);
  // Returns the sum with its interval of 95 %.
  Estimate Get() const;

 private:
  uint32_t snapshot_;
  double sum_ = 0, variance_ = 0;
};

struct Growth {
  double per_second = 0;
  double arm = 0;  // half of the interval of 95 %
  // Returns whether the interval is above 0, by more than errors of rounding.
  bool IsCertain() const { return per_second - arm > 1e-6; }
};

// Snapshots that a slope with an interval needs.
inline constexpr size_t kLeastSnapshots = 3;

// Returns how many of the first snapshots growth leaves out: half of them, if enough are left,
// because everything grows while a program starts.
constexpr size_t WarmUpOf(size_t snapshots) {
  return snapshots >= 2 * kLeastSnapshots ? snapshots / 2 : 0;
}

// Returns the growth over the snapshots at these times, in seconds, without the warm-up. Requires
// at least kLeastSnapshots times, which increase.
Growth GrowthOf(std::span<const double> times, std::span<const Followed> all);

}  // namespace jprof::model
