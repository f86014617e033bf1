#include "model/scale/scaling_fit.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace jprof::model {
namespace {

using Term = Scaling::Term;

constexpr size_t kSizesForThree = 4;
constexpr double kBetter = 0.25;
constexpr double kNoMisfit = std::numeric_limits<double>::infinity();
constexpr double kMostPower = 8, kPowerStep = 0.1;

// The sizes at which something was counted.
struct Points {
  std::vector<double> sizes, counts;
  double largest() const { return sizes.back(); }
};

double ValueOf(const Term& term, double n, double largest) {
  return term.factor * std::pow(n / largest, term.power) * (term.has_log ? std::log(n) : 1);
}

double MisfitOf(const Scaling& law, const Points& points) {
  double sum = 0;
  for (size_t i = 0; i < points.sizes.size(); ++i) {
    const double error = law.At(points.sizes[i]) / points.counts[i] - 1;
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(points.sizes.size()));
}

struct Line {
  double slope = 0, intercept = 0;
};

// Returns the line of least squares.
Line LineThrough(std::span<const double> x, std::span<const double> y,
                 std::span<const double> weights) {
  double sum = 0, x_sum = 0, y_sum = 0, xx = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += weights[i];
    x_sum += weights[i] * x[i];
    y_sum += weights[i] * y[i];
  }
  const double x_mean = x_sum / sum, y_mean = y_sum / sum;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += weights[i] * (x[i] - x_mean) * (x[i] - x_mean);
    xy += weights[i] * (x[i] - x_mean) * (y[i] - y_mean);
  }
  return {xy / xx, y_mean - xy / xx * x_mean};
}

std::vector<double> Logarithms(std::span<const double> values) {
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value));
  return logarithms;
}

Scaling FitPower(const Points& points) {
  const std::vector<double> x = Logarithms(points.sizes), y = Logarithms(points.counts);
  const Line line = LineThrough(x, y, std::vector<double>(x.size(), 1));
  const bool is_flat = std::abs(line.slope) <= kFlat;
  Scaling law = {.form = is_flat ? Scaling::Form::kConstant : Scaling::Form::kPower,
                 .exponent = is_flat ? 0 : line.slope,
                 .largest = points.largest()};
  law.terms[0] = {
      .power = law.exponent,
      .factor = is_flat ? points.counts.back() : std::exp(line.intercept + line.slope * x.back())};
  law.misfit = MisfitOf(law, points);
  return law;
}

// Solves the normal equations a x = b of up to three unknowns, by Gaussian elimination with
// pivots. Returns false if they have no single solution.
bool Solve(std::array<std::array<double, 4>, 3>& rows, size_t unknowns) {
  for (size_t i = 0; i < unknowns; ++i) {
    const auto largest = std::max_element(
        rows.begin() + i, rows.begin() + unknowns,
        [i](const auto& a, const auto& b) { return std::abs(a[i]) < std::abs(b[i]); });
    std::swap(rows[i], *largest);
    if (!(std::abs(rows[i][i]) > 0)) return false;
    for (size_t j = 0; j < unknowns; ++j) {
      if (j == i) continue;
      const double factor = rows[j][i] / rows[i][i];
      for (size_t k = i; k < 4; ++k) rows[j][k] -= factor * rows[i][k];
    }
  }
  for (size_t i = 0; i < unknowns; ++i) rows[i][3] /= rows[i][i];
  return true;
}

// Sets the factors of the first `used` terms by least squares of relative errors, and the misfit.
void FitFactors(const Points& points, size_t used, Scaling& law) {
  law.misfit = kNoMisfit;
  std::array<std::array<double, 4>, 3> rows{};
  for (size_t i = 0; i < points.sizes.size(); ++i) {
    std::array<double, 3> value{};
    for (size_t j = 0; j < used; ++j) {
      law.terms[j].factor = 1;
      value[j] = ValueOf(law.terms[j], points.sizes[i], law.largest) / points.counts[i];
    }
    for (size_t j = 0; j < used; ++j) {
      for (size_t k = 0; k < used; ++k) rows[j][k] += value[j] * value[k];
      rows[j][3] += value[j];
    }
  }
  if (!Solve(rows, used)) return;
  for (size_t j = 0; j < used; ++j) law.terms[j].factor = rows[j][3];
  law.misfit = MisfitOf(law, points);
}

// Returns n^j (a ln n + b), and + d with three terms. Its misfit is infinite if it is no candidate.
Scaling FitLogarithmic(const Points& points, int j, size_t terms) {
  Scaling law = {.form = Scaling::Form::kLogarithmic, .largest = points.largest()};
  const auto power = static_cast<double>(j);
  law.terms = {Term{.power = power, .has_log = true}, Term{.power = power}, Term{}};
  FitFactors(points, terms, law);
  const double least_log = law.terms[0].factor * std::log(points.sizes.front());
  const double constant = terms == 3 ? law.terms[2].factor : 0;
  if (!(least_log > 0) || 2 * std::abs(law.terms[1].factor) > least_log || constant < 0)
    law.misfit = kNoMisfit;
  const auto growing = [&](double n) { return law.At(n) - constant; };
  law.exponent = std::log(growing(points.largest()) / growing(points.sizes.front())) /
                 std::log(points.largest() / points.sizes.front());
  return law;
}

// Returns c n^k + d, or c n^k + e n^(k-1), for this k.
Scaling FitTwoPowers(const Points& points, double k, bool is_constant) {
  Scaling law = {.form = Scaling::Form::kPower, .exponent = k, .largest = points.largest()};
  law.terms = {Term{.power = k}, Term{.power = is_constant ? 0 : k - 1}, Term{}};
  FitFactors(points, 2, law);
  const auto [first, second, none] = law.terms;
  // The second power is a term of lower order: it is at most half of the first one.
  const double part = second.factor * points.largest() / points.sizes.front() / first.factor;
  if (!(first.factor > 0) || (is_constant ? second.factor < 0 : std::abs(part) > 0.5))
    law.misfit = kNoMisfit;
  return law;
}

// Searches the k with the least misfit: on a grid, then between the neighbours of its best point
// by golden sections.
Scaling BestTwoPowers(const Points& points, bool is_constant) {
  const auto fit = [&](double k) { return FitTwoPowers(points, k, is_constant); };
  Scaling best = {.misfit = kNoMisfit};
  for (double k = kPowerStep; k < kMostPower; k += kPowerStep) {
    const Scaling law = fit(k);
    if (law.misfit < best.misfit) best = law;
  }
  if (best.misfit == kNoMisfit) return best;
  constexpr double kGolden = 0.6180339887498949;
  double low = best.exponent - kPowerStep, high = best.exponent + kPowerStep;
  while (high - low > 1e-5) {
    const Scaling a = fit(high - kGolden * (high - low)), b = fit(low + kGolden * (high - low));
    if (a.misfit < best.misfit) best = a;
    if (b.misfit < best.misfit) best = b;
    a.misfit < b.misfit ? high = b.exponent : low = a.exponent;
  }
  return best;
}

Scaling LeastMisfit(std::initializer_list<Scaling> laws) {
  return std::ranges::min(laws, {}, &Scaling::misfit);
}

// Returns the best of n^j (a ln n + b).
Scaling BestLogarithmic(const Points& points, size_t terms) {
  return LeastMisfit({FitLogarithmic(points, 0, terms), FitLogarithmic(points, 1, terms),
                      FitLogarithmic(points, 2, terms)});
}

}  // namespace

double Scaling::At(double n) const {
  double value = 0;
  for (const Term& term : terms) {
    if (term.factor != 0) value += ValueOf(term, n, largest);
  }
  return value;
}

std::optional<Scaling> FitCounts(std::span<const double> sizes, std::span<const double> counts) {
  Points points;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!(counts[i] > 0)) continue;
    points.sizes.push_back(sizes[i]);
    points.counts.push_back(counts[i]);
  }
  const size_t count = points.sizes.size();
  if (count < 2) return std::nullopt;
  const Scaling power = FitPower(points);
  if (power.form == Scaling::Form::kConstant || count < 3) return power;
  const Scaling simple = LeastMisfit({power, BestLogarithmic(points, 2)});
  // A count that is the same at some sizes makes steps, of which a steep power can imitate one.
  const bool grows_always =
      std::ranges::adjacent_find(points.counts, std::greater_equal{}) == points.counts.end() ||
      std::ranges::adjacent_find(points.counts, std::less_equal{}) == points.counts.end();
  if (count < kSizesForThree || simple.misfit <= kPoor || !grows_always) return simple;
  const Scaling other =
      LeastMisfit({BestTwoPowers(points, /*is_constant=*/true),
                   BestTwoPowers(points, /*is_constant=*/false), BestLogarithmic(points, 3)});
  return other.misfit <= kBetter * simple.misfit ? other : simple;
}

std::optional<SizedTime> TimeAt(double size, const Estimate& time) {
  if (!(time.value > 0) || !(time.high > time.value)) return std::nullopt;
  const double below =
      time.low > 0 ? std::log(time.value / time.low) : std::log(time.high / time.value);
  const double above = std::log(time.high / time.value);
  return SizedTime{size, time.value, (below + above) / 2 / kDeviations95};
}

std::optional<Estimate> FitTimes(std::span<const SizedTime> times) {
  if (times.size() < 2) return std::nullopt;
  std::vector<double> x, y, weights;
  for (const SizedTime& time : times) {
    x.push_back(std::log(time.size));
    y.push_back(std::log(time.value));
    weights.push_back(1 / (time.deviation * time.deviation));
  }
  const Line line = LineThrough(x, y, weights);
  double sum = 0, x_sum = 0, xx = 0, chi2 = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += weights[i], x_sum += weights[i] * x[i];
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = y[i] - line.intercept - line.slope * x[i];
    xx += weights[i] * (x[i] - x_sum / sum) * (x[i] - x_sum / sum);
    chi2 += weights[i] * error * error;
  }
  const double freedom = static_cast<double>(x.size()) - 2;
  // Points that scatter more than their deviations say (Birge's ratio is above 1) determine the
  // scatter themselves, by few degrees of freedom.
  const double ratio = freedom > 0 ? std::sqrt(chi2 / freedom) : 0;
  const double deviations =
      ratio > 1 ? ratio * boost::math::quantile(boost::math::students_t(freedom), 0.975)
                : kDeviations95;
  const double arm = deviations / std::sqrt(xx);
  return Estimate{line.slope, line.slope - arm, line.slope + arm};
}

}  // namespace jprof::model
