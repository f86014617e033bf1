#include "model/tree/live_growth.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace jprof::model {
namespace {

double Square(double value) { return value * value; }

// Returns what an object stands for.
double Weighted(const Followed& object) { return object.value / object.probability; }

// Returns c_i of each snapshot, and S.
struct Slope {
  std::vector<double> factors;
  double squares = 0;
};
Slope SlopeOf(std::span<const double> times) {
  const double mean =
      std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  Slope slope;
  for (const double time : times) slope.squares += Square(time - mean);
  for (const double time : times) slope.factors.push_back((time - mean) / slope.squares);
  return slope;
}

std::vector<double> SumsOf(size_t snapshots, std::span<const Followed> objects) {
  std::vector<double> sums(snapshots);
  for (const Followed& object : objects)
    for (uint32_t i = object.first; i <= object.last; ++i) sums[i - 1] += Weighted(object);
  return sums;
}

// Returns the variance of the slope that the distances from the line imply.
double LineVariance(std::span<const double> times, const std::vector<double>& sums,
                    double per_second, double squares) {
  const auto n = static_cast<double>(times.size());
  const double mean_time = std::accumulate(times.begin(), times.end(), 0.0) / n;
  const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / n;
  double residuals = 0;
  for (size_t i = 0; i < times.size(); ++i)
    residuals += Square(sums[i] - mean - per_second * (times[i] - mean_time));
  return residuals / (n - 2) / squares;
}

// Returns the objects that exist after the first `count` snapshots, which are not counted any more.
std::vector<Followed> Without(size_t count, std::span<const Followed> objects) {
  std::vector<Followed> later;
  for (Followed object : objects) {
    if (object.last <= count) continue;
    object.first = object.first > count ? object.first - static_cast<uint32_t>(count) : 1;
    object.last -= static_cast<uint32_t>(count);
    later.push_back(object);
  }
  return later;
}

}  // namespace

void LiveSum::Add(const Followed& object) {
  if (object.first > snapshot_ || object.last < snapshot_) return;
  sum_ += Weighted(object);
  variance_ += (1 - object.probability) * Square(Weighted(object));
}

Estimate LiveSum::Get() const {
  if (variance_ <= 0) return {sum_, sum_, sum_};
  const double count = Square(sum_) / variance_;
  Estimate estimate = Scaled(Poisson(count), sum_ / count);
  estimate.value = sum_;
  return estimate;
}

Growth GrowthOf(std::span<const double> times, std::span<const Followed> all) {
  const std::vector<Followed> objects = Without(WarmUpOf(times.size()), all);
  times = times.subspan(WarmUpOf(times.size()));
  const Slope slope = SlopeOf(times);
  std::vector<double> up_to(times.size() + 1);  // sums of the factors
  std::partial_sum(slope.factors.begin(), slope.factors.end(), up_to.begin() + 1);
  Growth growth;
  double of_sample = 0;
  for (const Followed& object : objects) {
    const double part = Weighted(object) * (up_to[object.last] - up_to[object.first - 1]);
    growth.per_second += part;
    of_sample += (1 - object.probability) * Square(part);
  }
  const std::vector<double> sums = SumsOf(times.size(), objects);
  const double of_line = LineVariance(times, sums, growth.per_second, slope.squares);
  const boost::math::students_t student(static_cast<double>(times.size()) - 2);
  growth.arm = std::hypot(kDeviations95 * std::sqrt(of_sample),
                          boost::math::quantile(student, 0.975) * std::sqrt(of_line));
  return growth;
}

}  // namespace jprof::model
