// Builds the tree that reports print: one row per calling context, whatever types its method had
// and, in a merged tree, whatever threads it was on. It is built once from the records of the
// file, and then only read. Invariants: a row's parent is before it; children are linked in the
// requested order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/model/correct.h"
#include "model/tree/node.h"
#include "model/values/statistics.h"
#include "profile/read/reader.h"

namespace jprof::model {

struct Row : Node {  // a thread is a root
  profile::MethodId method = profile::kRootMethod;
  uint64_t calls = 0;
  uint64_t callees = 0;  // calls that it made (CEE)
  uint64_t dispatches = 0;
  uint64_t interrupts = 0;
  uint64_t samples = 0;                           // taken in it, of all events
  profile::MethodId site = profile::kRootMethod;  // where its caller calls it; of trees with sites
  profile::ThreadIndex thread{};                  // the first one if threads are merged
  uint32_t context = profile::kNoRecord;          // the record of its only context; none if several
  uint32_t level = 0;
  FrameKind type = FrameKind::kNone;  // the one most calls or samples had
  bool mixed = false;                 // there were others
};

// The values of one metric in one row, in raw units.
struct Cell {
  int64_t raw = 0;
  double adjust = 0;
  float error = 0;
  double base() const { return static_cast<double>(raw) - adjust; }
  // These return the upper end of a corrected value's 95 % interval, and whether the interval is
  // wider than the value, so that the value alone would look more exact than it is.
  double upper() const { return base() + kDeviations95 * static_cast<double>(error); }
  bool is_vague() const {
    return error > 0 && !(2 * kDeviations95 * static_cast<double>(error) <= base());
  }
};

// What was recorded at one bytecode of a row's method, without callees. The row includes it.
struct SiteValues {
  NodeIndex row = 0;
  profile::MethodId site = profile::kRootMethod;
  std::vector<int64_t> raw;  // of each metric
};

struct Rows {
  size_t metric_count = 0;
  std::vector<Row> rows;
  std::vector<Cell> cells;                     // [row * metric_count + metric]
  std::vector<NodeIndex> roots;                // in the order of the file
  std::vector<SiteValues> sites;               // of trees with sites
  bool has_interrupts = false;                 // they were recorded
  uint64_t open_frames = 0;                    // entries without an exit, of methods still running
  std::vector<NodeIndex> row_of_distribution;  // by place in CallTree::distributions

  const Cell& cell(size_t row, size_t metric) const { return cells[row * metric_count + metric]; }
};

// Selects the records that become one row: those of one context, and more.
struct Merge {
  // Children of one parent that are the same method, as several addresses of one native function,
  // and are called from the same site, if the tree has sites.
  bool siblings = false;
  // Those of threads with the same number here, which has one element per thread. Requires
  // `siblings`. Empty: no thread is merged with another one.
  std::span<const uint32_t> thread_group = {};
};

// Builds the rows. `corrections` has one element per metric; an empty one (no table) corrects
// nothing. `counts_samples` states for each metric whether it is the number of samples taken.
Rows BuildRows(const profile::CallTree& tree, const std::vector<calibrate::Correction>& corrections,
               const std::vector<bool>& counts_samples, const Merge& merge);

// Returns each row's BASE of `metric`, or its calls if there are no metrics, with all below it.
std::vector<double> Cumulative(const Rows& rows, size_t metric);

// Relinks children and roots: greatest weight first, equal ones as they were. `weight` has
// one element per row.
void SortByWeight(Rows& rows, const std::vector<double>& weight);
void SortRoots(Rows& rows, const std::vector<double>& weight);

}  // namespace jprof::model
