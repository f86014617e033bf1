#include "reports/tree/spread_columns.h"

#include <algorithm>

#include "reports/print/formats.h"
#include "reports/tree/metric_head.h"

namespace jprof::reports {
namespace {

using profile::Range;
using profile::Spread;

constexpr size_t kCalls = 0;  // the first column of the file

struct Statistic {
  const char* heading;
  const char* key;
  int64_t Range::*member;
};
constexpr Statistic kStatistics[] = {
    {"MIN", "min", &Range::min}, {"MEDIAN", "median", &Range::median}, {"MAX", "max", &Range::max}};

// Returns the place in the spread of the row's only context, or kNoRecord.
uint32_t ContextOf(const TreeRow& row) {
  if (row.shown.row == model::kNoNode) return profile::kNoRecord;
  const uint32_t context = row.tree.forest.rows.rows[row.shown.row].context;
  return context < row.tree.forest.spread.present.size() ? context : profile::kNoRecord;
}

const Range* RangeOf(const TreeRow& row, size_t column) {
  const Spread& spread = row.tree.forest.spread;
  const uint32_t context = ContextOf(row);
  return context == profile::kNoRecord ? nullptr
                                       : &spread.ranges[size_t{context} * spread.columns + column];
}

// Converts a raw value of a column of the file: calls if `metric` is null, else to its unit.
Value InColumn(const model::MetricTotals* metric, int64_t raw) {
  if (metric == nullptr) return Value::Signed(raw);
  return Value::Signed(model::Rounded(model::InUnit(*metric, static_cast<double>(raw))));
}

// Returns the value as text shows it.
Value ShownInColumn(const model::MetricTotals* metric, int64_t raw) {
  if (metric == nullptr) return Value::Signed(raw);
  return ShownValue(*metric, static_cast<double>(raw));
}

Value RunsOf(const TreeRow& row) {
  const uint32_t context = ContextOf(row);
  if (context == profile::kNoRecord) return Value::Missing();
  return Value::Integer(row.tree.forest.spread.present[context]);
}

// Returns the metric that text shows, the first one, or null if it shows calls.
const model::MetricTotals* ShownMetric(const NamedTree& tree) {
  return tree.forest.metrics.empty() ? nullptr : &tree.forest.metrics.front();
}

size_t ShownColumn(const NamedTree& tree) {
  return tree.forest.metrics.empty() ? kCalls : tree.forest.spread_columns.front();
}

int WidthOf(const NamedTree& tree, size_t column) {
  const Spread& spread = tree.forest.spread;
  int64_t most = 0;
  for (size_t i = column; i < spread.ranges.size(); i += spread.columns)
    most = std::max(most, spread.ranges[i].max);
  return std::max(8, static_cast<int>(TextOf(ShownInColumn(ShownMetric(tree), most)).size()));
}

void AddText(TreeColumns& columns, const NamedTree& tree) {
  const size_t column = ShownColumn(tree);
  const model::MetricTotals* metric = ShownMetric(tree);
  const int width = WidthOf(tree, column);
  columns.Add(kPeople, {"RUNS", 4}, RunsOf);
  for (const Statistic& statistic : kStatistics) {
    columns.Add(kPeople, {statistic.heading, width},
                [column, metric, member = statistic.member](const TreeRow& row) {
                  const Range* range = RangeOf(row, column);
                  return range ? ShownInColumn(metric, range->*member) : Value::Missing();
                });
  }
}

void AddCsvColumn(TreeColumns& columns, std::string name, const model::MetricTotals* metric,
                  size_t column, int64_t Range::*member) {
  columns.Add(kCsv, {std::move(name)}, [metric, column, member](const TreeRow& row) {
    const Range* range = RangeOf(row, column);
    return range ? InColumn(metric, range->*member) : Value::Missing();
  });
}

void AddJsonColumns(TreeColumns& columns, const NamedTree& tree, const Statistic& statistic) {
  const auto key = [&](const char* of) { return fmt::format("{}_{}", of, statistic.key); };
  columns.Add(kJson, {key("calls")}, [member = statistic.member](const TreeRow& row) {
    const Range* range = RangeOf(row, kCalls);
    return range ? Value::Signed(range->*member) : Value::Missing();
  });
  const model::Forest& forest = tree.forest;
  columns.Add(kJson,
              {.name = key("raw"), .shape = Column::Shape::kList, .cells = forest.metrics.size()},
              [&forest, member = statistic.member](const TreeRow& row, size_t m) {
                const Range* range = RangeOf(row, forest.spread_columns[m]);
                return range ? InColumn(&forest.metrics[m], range->*member) : Value::Missing();
              });
}

}  // namespace

void AddSpread(TreeColumns& columns, const NamedTree& tree) {
  if (tree.forest.spread.inputs == 0) return;
  if (EntryOf(tree.options.format).view == kPeople) return AddText(columns, tree);
  columns.Add(kCsv | kJson, {"runs"}, RunsOf);
  for (const Statistic& statistic : kStatistics) {
    AddCsvColumn(columns, fmt::format("calls_{}", statistic.key), nullptr, kCalls,
                 statistic.member);
    for (size_t m = 0; m < tree.forest.metrics.size(); ++m) {
      const model::MetricTotals& metric = tree.forest.metrics[m];
      AddCsvColumn(columns, fmt::format("raw_{}:{}", statistic.key, metric.info.name), &metric,
                   tree.forest.spread_columns[m], statistic.member);
    }
    AddJsonColumns(columns, tree, statistic);
  }
}

}  // namespace jprof::reports
