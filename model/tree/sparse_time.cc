#include "model/tree/sparse_time.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "profile/files/sparse_time.h"

namespace jprof::model {
namespace {

// The error that all intervals of windows have in common, in nanoseconds and as a share of the
// interval: about half of what docs/MEASURED.md ("Estimated times") shows of programs whose
// branches the processor predicts from what came before, which the windows change.
constexpr double kExcessNs = 4, kExcessShare = 0.25;

// The intervals of a node.
struct Intervals {
  double all = 0;
  double estimated = 0;  // those beyond the exact ones of each count
  double ticks = 0;

  void Add(uint32_t count, uint32_t exact) {
    all += count;
    if (count > exact) estimated += count - exact;
  }
  double mean() const { return all > 0 ? ticks / all : 0; }
  bool are_long(const SparseTime& sparse) const { return mean() > sparse.long_interval; }
  // Returns their share of the squares of all. Long ones are in windows only until one is found.
  double weight(const SparseTime& sparse) const {
    if (are_long(sparse) && sparse.squares <= 0) return 0;
    const double in_window = std::min(std::abs(mean()), sparse.long_interval);
    return estimated * in_window * in_window;
  }
  double excess(const SparseTime& sparse) const {
    if (are_long(sparse)) return 0;
    const double part = kExcessShare * std::max(mean(), 0.0);
    return estimated * std::hypot(sparse.excess, part);
  }
};

// Returns the intervals of each node, 0 for superseded parts, which are those of their node.
std::vector<Intervals> IntervalsOf(const profile::CallTree& tree, size_t metric, uint32_t exact) {
  std::vector<Intervals> nodes(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    const size_t node = tree.superseded[i] ? tree.parent[i] : i;
    nodes[node].ticks += static_cast<double>(tree.metrics[metric][i]);
    for (const uint32_t entries : tree.counts[i].entries) nodes[node].Add(entries, exact);
    // An interval that an exit begins is the caller's.
    if (tree.parent[node] == calibrate::kRoot) continue;
    for (const uint32_t exits : tree.counts[i].exits) nodes[tree.parent[node]].Add(exits, exact);
  }
  return nodes;
}

}  // namespace

SparseTime SparseTimeOf(const profile::Reader& reader) {
  const profile::ControlHeader& header = reader.header();
  SparseTime sparse = {.every = static_cast<double>(reader.meta().options.time_every)};
  // The first intervals of a part may be the thousandth ones of the recording.
  sparse.exact = reader.is_part() ? 0 : profile::kFirstTimedIntervals;
  sparse.timed = static_cast<double>(header.timed_intervals);
  sparse.untimed = static_cast<double>(header.untimed_ticks);
  const double ticks = static_cast<double>(header.ticks_per_second) / 1e9;
  sparse.excess = kExcessNs * ticks;
  sparse.long_interval = profile::kLongNs * ticks;
  sparse.squares = static_cast<double>(header.sampled_squares);
  return sparse;
}

double AddEstimateError(const SparseTime& sparse, const profile::CallTree& tree, size_t metric,
                        calibrate::Correction& correction) {
  correction.error.resize(tree.size());
  if (!sparse.is_sparse()) return 0;
  const std::vector<Intervals> nodes = IntervalsOf(tree, metric, sparse.exact);
  const double each = (sparse.every - 1) * profile::kWindow / 2;
  double weights = 0, all_too_long = 0;
  for (const Intervals& node : nodes) weights += node.weight(sparse);
  const double variance = each * (sparse.squares > 0 ? sparse.squares * sparse.every : weights);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const double own = weights > 0 ? variance * nodes[i].weight(sparse) / weights : 0;
    const double too_long = nodes[i].excess(sparse);
    all_too_long += too_long;
    const double before = correction.error[i];
    correction.error[i] =
        static_cast<float>(std::sqrt(before * before + own + too_long * too_long));
  }
  const double total = std::hypot(std::sqrt(variance), all_too_long, sparse.untimed);
  correction.total_error = std::hypot(correction.total_error, total);
  return total;
}

}  // namespace jprof::model
