#include "reports/forest.h"

#include <cmath>

namespace jprof::reports {
namespace {

static_assert(sizeof(profile::Counts) == sizeof(std::array<uint32_t, 4>));

// One event in `bracket_period` measures its handler, and takes that many times its cost off the next interval: right
// on average, with about (period - 1) times the square of the handler's cost as each interval's variance.
double BracketVariance(const profile::Reader& reader, const profile::CallTree& tree) {
  double own = 0;
  for (const profile::Thread& thread : reader.threads()) own += static_cast<double>(thread.record.own_ticks);
  double events = 0;
  for (const profile::Counts& counts : tree.counts) {
    events += double{1} * counts.entries[0] + counts.entries[1] + counts.exits[0] + counts.exits[1];
  }
  if (events == 0 || own <= 0 || reader.meta().bracket_period <= 1) return 0;
  return (reader.meta().bracket_period - 1) * (own / events) * (own / events);
}

// One per metric; empty where the table does not have it.
std::vector<calibrate::Correction> CorrectAll(const Source& source, const profile::CallTree& tree,
                                              const Names& names) {
  const std::vector<profile::MetricInfo>& metrics = source.reader.meta().metrics;
  std::vector<calibrate::Correction> corrections(metrics.size());
  if (!source.table) return corrections;
  std::vector<char> letters(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) letters[i] = KeyLetter(tree.word[i], names);
  const calibrate::CountedTree counted = {
      tree.parent, tree.former, letters,
      {reinterpret_cast<const std::array<uint32_t, 4>*>(tree.counts.data()), tree.counts.size()}};
  for (size_t m = 0; m < metrics.size(); ++m) {
    const calibrate::Metric* metric = source.table->Find(metrics[m].name);
    if (metric == nullptr) continue;
    const double variance = metrics[m].is_time ? BracketVariance(source.reader, tree) : 0;
    corrections[m] = calibrate::Correct(counted, *metric, variance);
  }
  return corrections;
}

std::vector<Column> MakeColumns(const Source& source, const std::vector<calibrate::Correction>& corrections) {
  std::vector<Column> columns;
  for (const profile::MetricInfo& info : source.reader.meta().metrics) {
    Column column;
    column.info = info;
    const calibrate::Correction& correction = corrections[columns.size()];
    column.running_permille = source.reader.header().least_running_permille[columns.size()];
    column.calibrated = !correction.adjust.empty();
    column.events = correction.events;
    column.error = correction.total_error;
    if (column.calibrated) column.granularity = source.table->Find(info.name)->granularity;
    columns.push_back(column);
  }
  return columns;
}

void AddUp(Forest& forest) {
  for (size_t i = 0; i < forest.rows.rows.size(); ++i) {
    forest.calls += forest.rows.rows[i].calls;
    for (size_t m = 0; m < forest.columns.size(); ++m) {
      const Cell& cell = forest.rows.cell(i, m);
      Column& column = forest.columns[m];
      column.raw += static_cast<double>(cell.raw);
      column.adjust += cell.adjust;
      if (!column.calibrated) continue;
      if (cell.base() < 0) {
        ++column.over_calibrated;
        column.residue += cell.base();
      }
      if (cell.base() <= cell.error) ++column.within_error;
    }
  }
}

// Threads by what they cost, so that a report begins with what matters; siblings as asked.
void Order(Forest& forest, const Options& options) {
  const std::vector<double> cumulative = Cumulative(forest.rows, 0);
  SortRoots(forest.rows, cumulative);
  if (options.sort == Sort::kFirst) return;
  if (options.sort == Sort::kBase && options.cumulative) return SortByWeight(forest.rows, cumulative);
  std::vector<double> weight(forest.rows.rows.size());
  for (size_t i = 0; i < weight.size(); ++i) {
    const bool by_base = options.sort == Sort::kBase && forest.metric_count() > 0;
    weight[i] = by_base ? forest.rows.cell(i, 0).base() : static_cast<double>(forest.rows.rows[i].calls);
  }
  SortByWeight(forest.rows, weight);
}

}  // namespace

Result<Forest> LoadForest(Source& source, const Options& options) {
  Forest forest;
  {
    const profile::CallTree tree = source.reader.ReadTree();
    forest.names = Names(source.reader.ReadMethods());
    if (tree.size() == 0 && source.reader.meta().mode == "trace") {
      return WrongUse("{}: a trace has no call tree; print it with: jprof report log-gen {}",
                      source.reader.directory(), source.reader.directory());
    }
    const std::vector<calibrate::Correction> corrections = CorrectAll(source, tree, forest.names);
    forest.columns = MakeColumns(source, corrections);
    forest.rows = BuildRows(tree, corrections, options.merged);
  }  // 10 million records are not needed any more
  AddUp(forest);
  Order(forest, options);
  return forest;
}

}  // namespace jprof::reports
