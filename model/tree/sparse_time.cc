#include "model/tree/sparse_time.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "profile/files/sparse_time.h"

namespace jprof::model {
namespace {

// The intervals of a node.
struct Intervals {
  double all = 0;
  double estimated = 0;  // those beyond the first of each count
  double ticks = 0;

  void Add(uint32_t count) {
    all += count;
    if (count > profile::kFirstTimedIntervals) estimated += count - profile::kFirstTimedIntervals;
  }
};

}  // namespace

SparseTime SparseTimeOf(const profile::Reader& reader) {
  const profile::ControlHeader& header = reader.header();
  SparseTime sparse = {.every = static_cast<double>(reader.meta().options.time_every)};
  sparse.timed = static_cast<double>(header.timed_intervals);
  sparse.untimed = static_cast<double>(header.untimed_ticks);
  const auto number = static_cast<double>(header.sampled_intervals);
  const auto sum = static_cast<double>(header.sampled_ticks);
  if (number > 0 && sum > 0) {
    const double squares = static_cast<double>(header.sampled_squares);
    sparse.variation = std::max(1.0, number * squares / (sum * sum));
  }
  return sparse;
}

double AddEstimateError(const SparseTime& sparse, const profile::CallTree& tree, size_t metric,
                        calibrate::Correction& correction) {
  std::vector<Intervals> nodes(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    const size_t node = tree.superseded[i] ? tree.parent[i] : i;
    nodes[node].ticks += static_cast<double>(tree.metrics[metric][i]);
    for (const uint32_t entries : tree.counts[i].entries) nodes[node].Add(entries);
    // An interval that an exit begins is the caller's.
    if (tree.parent[node] == calibrate::kRoot) continue;
    for (const uint32_t exits : tree.counts[i].exits) nodes[tree.parent[node]].Add(exits);
  }
  double total = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].estimated == 0) continue;
    const double mean = nodes[i].ticks / nodes[i].all;
    const double variance = nodes[i].estimated * (sparse.every - 1) * sparse.variation * mean *
                            mean * profile::kWindow / 2;
    total += variance;
    if (i < correction.error.size()) {
      const double before = correction.error[i];
      correction.error[i] = static_cast<float>(std::sqrt(before * before + variance));
    }
  }
  correction.total_error = std::hypot(correction.total_error, std::sqrt(total));
  return std::sqrt(total);
}

}  // namespace jprof::model
