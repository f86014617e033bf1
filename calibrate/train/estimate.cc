#include "calibrate/train/estimate.h"

#include <algorithm>
#include <cmath>

namespace jprof::calibrate {
namespace {

constexpr int kSweeps = 400;

double ValueOf(const std::map<Key, double>& values, const Key& key) {
  const auto found = values.find(key);
  return found == values.end() ? 0 : found->second;
}

double Sum(const Counts& counts, const std::map<Key, double>& values) {
  double sum = 0;
  for (const auto& [key, count] : counts) sum += count * ValueOf(values, key);
  return sum;
}

// Spreads `step` of the equation's residue over its keys, in proportion to their counts.
void Project(const Equation& equation, double step, const std::map<Key, double>& ceiling,
             std::map<Key, double>& values) {
  double norm = 0;
  for (const auto& [key, count] : equation.counts) norm += count * count;
  if (norm == 0) return;
  const double residue = step * (equation.total - Sum(equation.counts, values)) / norm;
  for (const auto& [key, count] : equation.counts) {
    double& value = values[key];
    value += residue * count;
    if (const auto limit = ceiling.find(key); limit != ceiling.end()) {
      value = std::min(value, limit->second);
    }
  }
}

}  // namespace

Typical Estimate(std::vector<uint32_t> samples, double granularity) {
  if (samples.empty()) return {};
  const auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  const double limit = kCutFactor * (*middle + granularity);
  Typical typical{.minimum = limit};
  double sum = 0, squares = 0;
  for (const uint32_t sample : samples) {
    if (sample > limit) {
      ++typical.cut;
      continue;
    }
    ++typical.count;
    sum += sample;
    squares += static_cast<double>(sample) * sample;
    typical.minimum = std::min<double>(typical.minimum, sample);
  }
  const auto count = static_cast<double>(typical.count);
  typical.mean = sum / count;
  typical.spread = std::sqrt(std::max(0.0, squares / count - typical.mean * typical.mean));
  return typical;
}

std::map<Key, double> Solve(const Problem& problem) {
  std::map<Key, double> values = problem.start;
  for (const Equation& equation : problem.equations) {
    for (const auto& [key, count] : equation.counts) values.try_emplace(key, problem.fallback);
  }
  // Shrinking steps make contradicting equations converge to a compromise instead of cycling.
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const double step = sweep < kSweeps / 2 ? 0.5 : 0.5 * kSweeps / 2 / (sweep + 1.0) / 4;
    for (const Equation& equation : problem.equations) {
      Project(equation, step, problem.ceiling, values);
    }
  }
  return values;
}

double Explained(const std::vector<Equation>& equations, const std::map<Key, double>& values) {
  double explained = 0, total = 0;
  for (const Equation& equation : equations) {
    explained += Sum(equation.counts, values);
    total += equation.total;
  }
  return total == 0 ? 1 : explained / total;
}

}  // namespace jprof::calibrate
