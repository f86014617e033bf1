// Prints the call tree of a sampled profile (docs/REPORTS.md): samples instead of BASE, and calls
// where the profile knows them (calltree with samples).
#include <algorithm>

#include "common/shell_word.h"
#include "model/values/statistics.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"
#include "reports/tree/spread_columns.h"
#include "reports/tree/stack_head.h"
#include "reports/tree/tree_report.h"

namespace jprof::reports {
namespace {

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return text;
}

// Returns SAMPLES, or the name of the event if there are several.
std::string ColumnName(const model::Forest& forest, size_t m) {
  return forest.metrics.size() == 1 && !forest.metrics[m].info.is_weighted()
             ? "SAMPLES"
             : Upper(forest.metrics[m].info.name);
}

// Adds the columns of one event in text: its value, that with all below, and its share.
void AddEventText(TreeColumns& columns, const NamedTree& tree, size_t m) {
  const model::MetricTotals& metric = tree.forest.metrics[m];
  const std::string name = ColumnName(tree.forest, m);
  const size_t digits = TextOf(ShownValue(metric, metric.raw)).size();
  const int width = static_cast<int>(std::max({size_t{7}, digits, name.size()}));
  columns.Add(kPeople, {name, width}, [&metric, m](const TreeRow& row) {
    return ShownValue(metric, raw::Base(row.shown, m));
  });
  if (m > 0 && !metric.info.is_weighted()) return;
  columns.Add(kPeople, {"CUM", width}, [&metric, m](const TreeRow& row) {
    return ShownValue(metric, raw::Cumulative(row.shown, m));
  });
  if (m > 0) return;
  columns.Add(kPeople, {"%", 5}, [&metric, m](const TreeRow& row) {
    return Value::Fixed(PercentOfWhole(metric, raw::Cumulative(row.shown, m)), 1);
  });
}

void AddEvents(TreeColumns& columns, const NamedTree& tree) {
  for (size_t m = 0; m < tree.forest.metrics.size(); ++m) {
    AddEventText(columns, tree, m);
    AddCsv(columns, tree, "samples", m, raw::Base);
    AddCsv(columns, tree, "error", m, raw::Error);
    if (tree.options.cumulative) AddCsv(columns, tree, "cumulative", m, raw::Cumulative);
  }
  AddList(columns, tree, "samples", raw::Base);
  AddList(columns, tree, "error", raw::Error);
  if (tree.options.cumulative) AddList(columns, tree, "cumulative", raw::Cumulative);
}

TreeColumns ScsColumns(const NamedTree& tree) {
  const auto calls = [](const TreeRow& row) { return Value::Integer(row.shown.calls); };
  TreeColumns columns(EntryOf(tree.options.format).view);
  AddIdentity(columns, tree.options);
  columns.Add(kPeople, {"LV", 2},
              [](const TreeRow& row) { return Value::Integer(row.shown.level); });
  AddEvents(columns, tree);
  AddSpread(columns, tree);
  if (tree.forest.calls > 0) {
    columns.Add(kPeople, {"CALLS", 10}, calls);
    columns.Add(kCsv | kJson, {"calls"}, calls);
  }
  columns.Add(kPeople, {"NAME"}, [](const TreeRow& row) { return row.MarkedName(); });
  columns.Add(kCsv, {"name"},
              [](const TreeRow& row) { return Value::Text(row.tree.Name(row.shown)); });
  return columns;
}

Section HeadOf(NamedTree& tree) {
  return {.text =
              [&tree](Output& out) {
                PrintTreeHead(tree, "scs", out);
                out.Text("\n");
              },
          .json =
              [&tree](JsonWriter& json) {
                JsonMetrics(tree.forest, json);
                JsonLosses(tree.source, QualityOf(tree.source, tree.forest), json);
                JsonStacks(tree.source, json);
                JsonRun(tree.source, "scs", json);
              }};
}

// Unlinks rows that have no value in any column. With several events in one tree, or with --metric,
// there are many.
void HideEmpty(model::Rows& rows) {
  std::vector<bool> filled(rows.rows.size());
  for (size_t i = rows.rows.size(); i-- > 0;) {
    for (size_t m = 0; m < rows.metric_count; ++m)
      filled[i] = filled[i] || rows.cell(i, m).raw != 0;
    if (filled[i] && rows.rows[i].parent != model::kNoNode) filled[rows.rows[i].parent] = true;
  }
  for (model::Row& parent : rows.rows) {
    model::NodeIndex* link = &parent.first_child;
    while (*link != model::kNoNode) {
      if (filled[*link]) {
        link = &rows.rows[*link].next;
      } else {
        *link = rows.rows[*link].next;
      }
    }
  }
}

// Loads the tree of a sampled profile. Sampled siblings have no order of first calls: the largest
// is first, unless --sort requests another order.
Result<model::Forest> LoadSampled(model::Source& source, const Options& options) {
  const std::vector<profile::Metric>& metrics = source.reader.meta().metrics;
  if (std::ranges::none_of(metrics, &profile::Metric::is_samples)) {
    return WrongUse("{} has no samples; its tree is printed by: jprof report log-rt {}",
                    source.reader.shown(), ShellWord(source.reader.shown()));
  }
  Result<model::Forest> forest = model::LoadForest(source, options);
  if (!forest) return forest;
  if (forest->calls == 0) HideEmpty(forest->rows);
  if (!options.sort) model::SortByWeight(forest->rows, model::Cumulative(forest->rows, 0));
  return forest;
}

}  // namespace

Result<void> PrintScs(model::Source& source, const Options& options, Output& out) {
  Result<model::Forest> forest = LoadSampled(source, options);
  if (!forest) return std::unexpected(forest.error());
  NamedTree tree(source, *forest, options);
  if (options.format == Format::kCollapsed) return PrintCollapsed(tree, out);
  TreeColumns columns = ScsColumns(tree);
  PrintTree(tree, columns, HeadOf(tree), out);
  return {};
}

}  // namespace jprof::reports
