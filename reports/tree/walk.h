// Walks a forest's rows depth first in the order of a report, without recursion (trees are deep).
// What the options hide (--min-percent, --depth) is one row per parent. In machine formats every
// column still adds up; text leaves out rows that are small together (outline.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/tree/forest.h"
#include "reports/print/options.h"
#include "reports/tree/outline.h"

namespace jprof::reports {

struct ShownRow {
  uint32_t id = 0;      // unique in the report, from 1
  uint32_t parent = 0;  // id of the parent's row, 0 for a thread row
  uint32_t level = 0;
  Place place;
  model::NodeIndex row =
      model::kNoNode;  // in Rows; kNoNode for a row that represents `hidden` ones
  uint64_t hidden = 0;
  uint64_t calls = 0;
  uint64_t callees = 0;
  uint64_t samples = 0;
  uint64_t dispatches = 0;
  uint64_t interrupts = 0;
  const model::Cell* cells = nullptr;  // one per metric
  const double* cumulative = nullptr;  // one per metric, raw units; null unless asked for
};

class Walk {
 public:
  Walk(const model::Forest& forest, const Options& options);

  using Visitor = std::function<bool(const ShownRow&)>;

  // Visits one thread row and all below it. `visit` returns false to stop.
  void Thread(model::NodeIndex root, const Visitor& visit);

  // Returns whether text does not show a thread by itself; all such threads are one row.
  bool HidesThread(model::NodeIndex root) const { return outline_.HidesRoot(root); }
  // Visits the row of the threads that are not shown by themselves, if there are any.
  void OtherThreads(const Visitor& visit);

  // Returns the share of the whole below which rows are hidden, in percent.
  double percent() const { return outline_.percent(); }

 private:
  // Returns the inclusive values that are shown, or only those by which rows are hidden.
  std::vector<std::vector<double>> Inclusive() const;
  bool Keeps(model::NodeIndex row, double percent) const;
  void Accumulate(model::NodeIndex row);
  ShownRow Shown(model::NodeIndex row, Place place) const;
  // Returns the row that represents the hidden children of `parent` and all below them.
  ShownRow Rest(model::NodeIndex parent, Place place);
  void BeginFold();
  ShownRow EndFold();

  const model::Forest& forest_;
  const model::Rows& rows_;
  const Options& options_;
  // [metric][row]; without metrics the calls. The first ones decide what is hidden.
  std::vector<std::vector<double>> cumulative_;
  Outline<std::vector<model::Row>> outline_;
  uint32_t folded_rows_ = 0;
  // These are the row being folded and its values for the visitor.
  ShownRow fold_;
  std::vector<model::Cell> fold_cells_;
  mutable std::vector<double> shown_cumulative_;
};

}  // namespace jprof::reports
