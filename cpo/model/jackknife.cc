#include "cpo/model/jackknife.h"

#include <cmath>
#include <numeric>
#include <vector>

namespace jprof::cpo {

std::optional<double> JackknifeError(std::span<const double> numerators,
                                     std::span<const double> denominators) {
  const size_t bursts = numerators.size();
  if (bursts < 2) return std::nullopt;
  const double numerator = std::accumulate(numerators.begin(), numerators.end(), 0.0);
  const double denominator = std::accumulate(denominators.begin(), denominators.end(), 0.0);
  std::vector<double> ratios;
  for (size_t left_out = 0; left_out < bursts; ++left_out) {
    const double rest = denominator - denominators[left_out];
    if (rest * denominator <= 0) return std::nullopt;
    ratios.push_back((numerator - numerators[left_out]) / rest);
  }
  const auto n = static_cast<double>(bursts);
  const double mean = std::accumulate(ratios.begin(), ratios.end(), 0.0) / n;
  double squares = 0;
  for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
  return std::sqrt((n - 1) / n * squares);
}

}  // namespace jprof::cpo
