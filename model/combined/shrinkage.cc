#include "model/combined/shrinkage.h"

#include <numeric>

namespace jprof::model {
namespace {

std::vector<double> Inclusive(std::span<const NodeIndex> parent, std::vector<double> values) {
  for (size_t i = values.size(); i-- > 0;) {
    if (parent[i] != kNoNode) values[parent[i]] += values[i];
  }
  return values;
}

// Returns the sum over all roots.
double OfRoots(std::span<const NodeIndex> parent, const std::vector<double>& inclusive) {
  double sum = 0;
  for (size_t i = 0; i < inclusive.size(); ++i) {
    if (parent[i] == kNoNode) sum += inclusive[i];
  }
  return sum;
}

}  // namespace

std::vector<double> ShrunkShares(std::span<const NodeIndex> parent, std::span<const double> samples,
                                 std::span<const double> base, double weight) {
  const size_t size = parent.size();
  // Keeps every sum of base measures above 0.
  const double least = 1e-9 * (std::accumulate(base.begin(), base.end(), 0.0) + 1e-9) /
                       static_cast<double>(size + 1);
  std::vector<double> own_base(base.begin(), base.end());
  for (double& value : own_base) value += least;
  const std::vector<double> all_samples = Inclusive(parent, {samples.begin(), samples.end()});
  const std::vector<double> all_base = Inclusive(parent, own_base);
  const double whole_samples = OfRoots(parent, all_samples), whole_base = OfRoots(parent, all_base);
  const auto part = [weight](double s, double b, double of_samples, double of_base) {
    return (s + weight * b / of_base) / (of_samples + weight);
  };
  std::vector<double> inclusive(size), own(size);
  for (size_t i = 0; i < size; ++i) {
    const NodeIndex up = parent[i];
    inclusive[i] = up == kNoNode ? part(all_samples[i], all_base[i], whole_samples, whole_base)
                                 : inclusive[up] * part(all_samples[i], all_base[i],
                                                        all_samples[up], all_base[up]);
    own[i] = inclusive[i] * part(samples[i], own_base[i], all_samples[i], all_base[i]);
  }
  return own;
}

}  // namespace jprof::model
