#include "reports/tree/walk.h"

#include <algorithm>

namespace jprof::reports {

Walk::Walk(const model::Forest& forest, const Options& options)
    : forest_(forest),
      rows_(forest.rows),
      options_(options),
      cumulative_(Inclusive()),
      outline_(rows_.rows, rows_.roots, options,
               cumulative_.empty() ? std::span<const double>() : cumulative_.front(),
               [this](model::NodeIndex row, double percent) { return Keeps(row, percent); }),
      fold_cells_(forest.metric_count()),
      shown_cumulative_(std::min(cumulative_.size(), forest.metric_count())) {}

std::vector<std::vector<double>> Walk::Inclusive() const {
  const bool shown = options_.cumulative || options_.for_people();
  std::vector<std::vector<double>> values;
  if (shown || options_.percent() > 0) values.push_back(model::Cumulative(rows_, 0));
  for (size_t m = 1; m < rows_.metric_count && shown; ++m)
    values.push_back(model::Cumulative(rows_, m));
  return values;
}

// Returns whether a row is shown in spite of a small value: a row that was large before the
// correction, which left an unknown value.
bool Walk::Keeps(model::NodeIndex index, double percent) const {
  const model::Cell own = rows_.metric_count > 0 ? rows_.cell(index, 0) : model::Cell{};
  return model::IsLargeUnknown(forest_, own, rows_.rows[index].calls, percent);
}

ShownRow Walk::Shown(model::NodeIndex index, Place place) const {
  const model::Row& row = rows_.rows[index];
  ShownRow shown;
  shown.id = index + 1;
  shown.parent = row.parent + 1;  // kNoNode + 1 == 0
  shown.level = row.level;
  shown.place = place;
  shown.row = index;
  shown.calls = row.calls;
  shown.callees = row.callees;
  shown.samples = row.samples;
  shown.dispatches = row.dispatches;
  shown.interrupts = row.interrupts;
  shown.cells = rows_.metric_count > 0 ? &rows_.cell(index, 0) : nullptr;
  for (size_t m = 0; m < shown_cumulative_.size(); ++m)
    shown_cumulative_[m] = cumulative_[m][index];
  if (!shown_cumulative_.empty()) shown.cumulative = shown_cumulative_.data();
  return shown;
}

void Walk::Accumulate(model::NodeIndex index) {
  const model::Row& row = rows_.rows[index];
  ++fold_.hidden;
  fold_.calls += row.calls;
  fold_.callees += row.callees;
  fold_.samples += row.samples;
  fold_.dispatches += row.dispatches;
  fold_.interrupts += row.interrupts;
  for (size_t m = 0; m < fold_cells_.size(); ++m) {
    const model::Cell& cell = rows_.cell(index, m);
    model::Cell& sum = fold_cells_[m];
    sum.raw =
        static_cast<int64_t>(static_cast<uint64_t>(sum.raw) + static_cast<uint64_t>(cell.raw));
    sum.adjust += cell.adjust;
    sum.error += cell.error;
  }
}

void Walk::BeginFold() {
  fold_ = {};
  fold_cells_.assign(fold_cells_.size(), {});
}

ShownRow Walk::EndFold() {
  fold_.id = static_cast<uint32_t>(rows_.rows.size()) + ++folded_rows_;
  model::SetSamplingErrors(forest_.metrics, fold_cells_.data());
  fold_.cells = fold_cells_.data();
  for (size_t m = 0; m < shown_cumulative_.size(); ++m)
    shown_cumulative_[m] = fold_cells_[m].base();
  if (!shown_cumulative_.empty()) fold_.cumulative = shown_cumulative_.data();
  return fold_;
}

ShownRow Walk::Rest(model::NodeIndex parent, Place place) {
  BeginFold();
  model::VisitHidden(
      rows_.rows, parent, [this](model::NodeIndex row) { return outline_.Hides(row); },
      [this](model::NodeIndex row) { Accumulate(row); });
  fold_.parent = parent + 1;
  fold_.level = rows_.rows[parent].level + 1;
  fold_.place = place;
  return EndFold();
}

void Walk::Thread(model::NodeIndex root, const Visitor& visit) {
  outline_.Visit(
      root, [&](model::NodeIndex row, Place place) { return visit(Shown(row, place)); },
      [&](model::NodeIndex parent, Place place) { return visit(Rest(parent, place)); });
}

void Walk::OtherThreads(const Visitor& visit) {
  BeginFold();
  uint64_t threads = 0;
  for (const model::NodeIndex root : rows_.roots) {
    if (!HidesThread(root)) continue;
    const model::ThreadGroup* group = forest_.GroupOf(root);
    threads += group != nullptr ? group->threads : 1;
    model::VisitNodes(
        rows_.rows, root, [this](model::NodeIndex row) { return Accumulate(row), true; },
        [](model::NodeIndex) {});
  }
  fold_.hidden = threads;
  if (threads > 0) visit(EndFold());
}

}  // namespace jprof::reports
