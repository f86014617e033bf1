#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "fleet/read/questions.h"

namespace jprof::fleet {
namespace {

constexpr double kLeastP = 0.001;
constexpr double kFewestRuns = 3;  // on each side

struct Moments {
  double count = 0, sum = 0, squares = 0;
  void Add(const std::vector<double>& values) {
    for (const double value : values) {
      ++count;
      sum += value;
      squares += value * value;
    }
  }
  double mean() const { return sum / count; }
  double variance() const { return std::max(0.0, (squares - sum * sum / count) / (count - 1)); }
};

// Returns the p value of Welch's t test.
double Welch(const Moments& a, const Moments& b) {
  const double va = a.variance() / a.count, vb = b.variance() / b.count;
  const double difference = std::abs(a.mean() - b.mean());
  // Values that are equal up to rounding have no variance.
  const double noise = 1e-12 * std::max(std::abs(a.mean()), std::abs(b.mean()));
  if (difference <= noise) return 1;
  if (va + vb <= noise * noise) return 0;
  const double freedom =
      (va + vb) * (va + vb) / (va * va / (a.count - 1) + vb * vb / (b.count - 1));
  const boost::math::students_t student(std::max(1.0, freedom));
  return 2 * boost::math::cdf(boost::math::complement(student, difference / std::sqrt(va + vb)));
}

void MarkBetween(const std::vector<std::vector<double>>& shares, size_t first, size_t end,
                 std::vector<HistoryRow>& rows) {
  size_t best = 0;
  double least = 1, difference = 0;
  for (size_t at = first + 1; at < end; ++at) {
    Moments before, after;
    for (size_t i = first; i < end; ++i) (i < at ? before : after).Add(shares[i]);
    if (before.count < kFewestRuns || after.count < kFewestRuns) continue;
    const double p = Welch(before, after);
    const double apart = std::abs(before.mean() - after.mean());
    if (p > least || (p == least && apart <= difference)) continue;
    least = p;
    difference = apart;
    best = at;
  }
  const double corrected = least * static_cast<double>(end - first - 1);
  if (best == 0 || corrected >= kLeastP) return;
  rows[best].changes = true;
  rows[best].p = corrected;
  MarkBetween(shares, first, best, rows);
  MarkBetween(shares, best, end, rows);
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

void MarkChanges(const std::vector<std::vector<double>>& shares, std::vector<HistoryRow>& rows) {
  MarkBetween(shares, 0, rows.size(), rows);
}

std::vector<double> RobustScores(const std::vector<double>& values, double least) {
  constexpr double kNormal = 1.4826;  // of a normal distribution, deviation / median deviation
  const double median = MedianOf(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - median));
  const double unit = std::max(kNormal * MedianOf(deviations), least);
  std::vector<double> scores;
  for (const double value : values) scores.push_back(unit > 0 ? (value - median) / unit : 0);
  return scores;
}

}  // namespace jprof::fleet
