#include "reports/tree/walk.h"

namespace jprof::reports {

Walk::Walk(const model::Forest& forest, const Options& options)
    : forest_(forest),
      rows_(forest.rows),
      options_(options),
      fold_cells_(forest.metric_count()),
      shown_cumulative_(forest.metric_count()) {
  if (options.cumulative) {
    for (size_t m = 0; m < forest.metric_count(); ++m)
      cumulative_.push_back(model::Cumulative(rows_, m));
  }
  if (options.min_percent > 0) FindLarge();
}

// Marks the large rows. A row is large if its inclusive value reaches the share, if its own value
// was much but was lost in the correction, or if a row below it is large.
void Walk::FindLarge() {
  const std::vector<double> weight = model::Cumulative(rows_, 0);
  double whole = 0;
  for (const model::NodeIndex root : rows_.roots) whole += weight[root];
  const double threshold = whole * options_.min_percent / 100;
  large_.resize(rows_.rows.size());
  for (size_t i = rows_.rows.size(); i-- > 0;) {
    const model::Row& row = rows_.rows[i];
    if (!large_[i]) {
      const model::Cell own = rows_.metric_count > 0 ? rows_.cell(i, 0) : model::Cell{};
      large_[i] = !(weight[i] < threshold) ||
                  model::IsLargeUnknown(forest_, own, row.calls, options_.min_percent);
    }
    if (large_[i] && row.parent != model::kNoNode) large_[row.parent] = true;
  }
}

bool Walk::Hides(model::NodeIndex row) const {
  return rows_.rows[row].level > options_.depth || (!large_.empty() && !large_[row]);
}

ShownRow Walk::Shown(model::NodeIndex index) const {
  const model::Row& row = rows_.rows[index];
  ShownRow shown;
  shown.id = index + 1;
  shown.parent = row.parent + 1;  // kNoNode + 1 == 0
  shown.level = row.level;
  shown.row = index;
  shown.calls = row.calls;
  shown.callees = row.callees;
  shown.samples = row.samples;
  shown.dispatches = row.dispatches;
  shown.cells = rows_.metric_count > 0 ? &rows_.cell(index, 0) : nullptr;
  for (size_t m = 0; m < cumulative_.size(); ++m) shown_cumulative_[m] = cumulative_[m][index];
  if (!cumulative_.empty()) shown.cumulative = shown_cumulative_.data();
  return shown;
}

void Walk::Accumulate(model::NodeIndex index) {
  const model::Row& row = rows_.rows[index];
  ++fold_.hidden;
  fold_.calls += row.calls;
  fold_.callees += row.callees;
  fold_.samples += row.samples;
  fold_.dispatches += row.dispatches;
  for (size_t m = 0; m < fold_cells_.size(); ++m) {
    const model::Cell& cell = rows_.cell(index, m);
    model::Cell& sum = fold_cells_[m];
    sum.raw =
        static_cast<int64_t>(static_cast<uint64_t>(sum.raw) + static_cast<uint64_t>(cell.raw));
    sum.adjust += cell.adjust;
    sum.error += cell.error;
  }
}

ShownRow Walk::Folded(model::NodeIndex parent) {
  fold_ = {};
  fold_cells_.assign(fold_cells_.size(), {});
  model::VisitHidden(
      rows_.rows, parent, [this](model::NodeIndex row) { return Hides(row); },
      [this](model::NodeIndex row) { Accumulate(row); });
  fold_.id = static_cast<uint32_t>(rows_.rows.size()) + ++folded_rows_;
  fold_.parent = parent + 1;
  fold_.level = rows_.rows[parent].level + 1;
  model::SetSamplingErrors(forest_.metrics, fold_cells_.data());
  fold_.cells = fold_cells_.data();
  for (size_t m = 0; m < cumulative_.size(); ++m) shown_cumulative_[m] = fold_cells_[m].base();
  if (!cumulative_.empty()) fold_.cumulative = shown_cumulative_.data();
  return fold_;
}

void Walk::Thread(model::NodeIndex root, const Visitor& visit) {
  model::VisitShown(
      rows_.rows, root, [this](model::NodeIndex row) { return Hides(row); },
      [&](model::NodeIndex row) { return visit(Shown(row)); },
      [&](model::NodeIndex parent) { return visit(Folded(parent)); });
}

}  // namespace jprof::reports
