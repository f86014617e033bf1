#include "model/values/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace jprof::model {
namespace {

constexpr double kZ2 = kDeviations95 * kDeviations95;

std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t start = 0, end = 0; start < order.size(); start = end) {
    while (end < order.size() && values[order[end]] == values[order[start]]) ++end;
    for (size_t i = start; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(start + end - 1) / 2;
    }
  }
  return ranks;
}

}  // namespace

Estimate Wilson(double hits, double trials) {
  if (!(trials > 0)) return {0, 0, 1};
  const double share = std::clamp(hits / trials, 0.0, 1.0);
  const double middle = (share + kZ2 / (2 * trials)) / (1 + kZ2 / trials);
  const double arm = kDeviations95 / (1 + kZ2 / trials) *
                     std::sqrt(share * (1 - share) / trials + kZ2 / (4 * trials * trials));
  // Rounding at the ends must not put the estimate outside of its own interval.
  return {share, std::clamp(middle - arm, 0.0, share), std::clamp(middle + arm, share, 1.0)};
}

Estimate Poisson(double count) {
  count = std::max(count, 0.0);
  const double arm = kDeviations95 * std::sqrt(count + kZ2 / 4);
  return {count, std::clamp(count + kZ2 / 2 - arm, 0.0, count), count + kZ2 / 2 + arm};
}

Estimate Scaled(const Estimate& estimate, double factor) {
  return {estimate.value * factor, estimate.low * factor, estimate.high * factor};
}

Estimate Change(const Estimate& a, const Estimate& b) {
  const double change = b.value - a.value;
  return {change, change - std::hypot(b.value - b.low, a.high - a.value),
          change + std::hypot(b.high - b.value, a.value - a.low)};
}

Estimate RelativeChange(const Estimate& a, const Estimate& b) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (b.value <= 0 && b.high <= 0) return a.high > 0 ? Estimate{-1, -1, -1} : Estimate{};
  const auto square = [](double value) { return value * value; };
  const double product = a.value * b.value;
  // Returns what is below the root where b's end is `b_arm` and a's end is `a_arm` away.
  const auto root = [&](double a_arm, double b_arm) {
    const double a_rest = square(a.value) - square(a_arm);
    const double b_rest = square(b.value) - square(b_arm);
    return std::sqrt(std::max(0.0, square(a.value) * square(b.value) - a_rest * b_rest));
  };
  const double least = square(b.value) - square(b.value - b.low);
  const double a_least = square(a.value) - square(a.value - a.low);
  const double low =
      least > 0 ? least / (product + root(a.high - a.value, b.value - b.low)) - 1 : -1;
  const double high =
      a_least > 0 ? (product + root(a.value - a.low, b.high - b.value)) / a_least - 1 : kInfinite;
  return {a.value > 0 ? b.value / a.value - 1 : kInfinite, low, high};
}

double RankCorrelation(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (a.size() < 3 || a.size() != b.size()) return kNone;
  const std::vector<double> ranks_a = Ranks(a), ranks_b = Ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double together = 0, squares_a = 0, squares_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    together += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    squares_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    squares_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  return squares_a > 0 && squares_b > 0 ? together / std::sqrt(squares_a * squares_b) : kNone;
}

}  // namespace jprof::model
