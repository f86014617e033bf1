// Prints the call tree in the classic layout (docs/REPORTS.md).
#include <algorithm>
#include <cmath>

#include "model/sums/object_sums.h"
#include "profile/files/object_metrics.h"
#include "reports/print/estimate_text.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"
#include "reports/tree/spread_columns.h"
#include "reports/tree/tree_report.h"

namespace jprof::reports {
namespace {

int Digits(double value) {
  return static_cast<int>(fmt::formatted_size("{}", model::Rounded(value)));
}

double MostRaw(const model::Rows& rows, size_t metric, bool calibrated) {
  double most = 0;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const model::Cell& cell = rows.cell(i, metric);
    most = std::max(most, std::abs(static_cast<double>(cell.raw)));
    if (calibrated && cell.is_vague()) most = std::max(most, cell.upper());
  }
  return most;
}

int CallsWidth(const model::Rows& rows) {
  uint64_t most = 0;  // of a row that stands for all others
  for (const model::Row& row : rows.rows) most += row.calls;
  return std::max(5, Digits(static_cast<double>(most)));
}

int LevelWidth(const model::Rows& rows) {
  uint32_t deepest = 0;
  for (const model::Row& row : rows.rows) deepest = std::max(deepest, row.level);
  return std::max(2, Digits(deepest));
}

bool HasDispatches(const model::Rows& rows) {
  return std::ranges::any_of(rows.rows, [](const model::Row& row) { return row.dispatches > 0; });
}

int WidthOf(const NamedTree& tree, size_t m) {
  const model::MetricTotals& metric = tree.forest.metrics[m];
  constexpr int kLeast = 8;
  if (ShowsDurations(metric)) return kLeast;
  // Inclusive values may reach the total.
  const double most = std::max(metric.raw, MostRaw(tree.forest.rows, m, metric.calibrated));
  return std::max(kLeast, 1 + Digits(model::InUnit(metric, most)));
}

// Adds the columns of one metric in text: RAW and ADJUST, SELF, ERROR, CUM and its share, as far as
// requested.
void AddMetricText(TreeColumns& columns, const NamedTree& tree, size_t m) {
  const model::MetricTotals& metric = tree.forest.metrics[m];
  const int width = WidthOf(tree, m);
  const std::string suffix = m == 0 ? "" : "-" + std::to_string(m);
  const auto add = [&](const char* name, double (*raw)(const ShownRow&, size_t), double least) {
    columns.Add(kPeople, {name + suffix, width}, [&metric, m, raw, least](const TreeRow& row) {
      return ShownValue(metric, std::max(raw(row.shown, m), least));
    });
  };
  constexpr double kAny = -INFINITY;
  if (tree.options.raw) {
    add("RAW", raw::Raw, kAny);
    add("ADJUST", raw::Adjust, kAny);
  }
  columns.Add(kPeople, {(metric.info.is_samples() ? "SAMPLES" : "SELF") + suffix, width},
              [&metric, m](const TreeRow& row) { return BaseValue(metric, row.shown.cells[m]); });
  if (tree.options.raw) add("ERROR", raw::Error, kAny);
  add("CUM", raw::Cumulative, 0);
  if (m > 0) return;
  columns.Add(kPeople, {"%", 5}, [&metric](const TreeRow& row) {
    return Value::Fixed(PercentOfWhole(metric, raw::Cumulative(row.shown, 0)), 1);
  });
}

// Adds CUM of the first metric per call, where there are calls.
void AddPerCall(TreeColumns& columns, const NamedTree& tree) {
  if (tree.forest.metrics.empty() || tree.forest.calls == 0) return;
  const model::MetricTotals& metric = tree.forest.metrics[0];
  columns.Add(kPeople, {"CUM/CALL", WidthOf(tree, 0)}, [&metric](const TreeRow& row) {
    if (row.shown.calls == 0 || row.shown.row == model::kNoNode) return Value::Missing();
    const double all = std::max(raw::Cumulative(row.shown, 0), 0.0);
    return ShownValue(metric, all / static_cast<double>(row.shown.calls));
  });
}

// Adds the column of a metric of allocated objects in text: what the method allocates itself, which
// is the sum of its rows of classes.
void AddObjectsText(TreeColumns& columns, const NamedTree& tree, size_t m,
                    std::string_view heading) {
  const int width = WidthOf(tree, m);
  columns.Add(kPeople, {std::string(heading), width},
              [values = model::WithClasses(tree.forest, m), m](const TreeRow& row) {
                return row.shown.row != model::kNoNode ? Value::Signed(values[row.shown.row])
                                                       : Value::Signed(row.shown.cells[m].raw);
              });
  if (m > 0) return;
  columns.Add(kPeople, {"CUM", width}, [](const TreeRow& row) {
    return Value::Signed(model::Rounded(raw::Cumulative(row.shown, 0)));
  });
  columns.Add(kPeople, {"%", 5}, [&metric = tree.forest.metrics[0]](const TreeRow& row) {
    return Value::Fixed(PercentOfWhole(metric, raw::Cumulative(row.shown, 0)), 1);
  });
}

void AddMetrics(TreeColumns& columns, const NamedTree& tree) {
  const bool text = EntryOf(tree.options.format).view == kPeople;
  for (size_t m = 0; m < tree.forest.metrics.size(); ++m) {
    const profile::ObjectMetric* const object = ObjectMetricOf(tree.forest.metrics[m].info);
    if (text && object != nullptr) AddObjectsText(columns, tree, m, object->heading);
    if (text && object == nullptr) AddMetricText(columns, tree, m);  // the width is from all rows
    AddCsv(columns, tree, "base", m, raw::Base);
    AddCsv(columns, tree, "raw", m, raw::Raw);
    AddCsv(columns, tree, "adjust", m, raw::Adjust);
    AddCsv(columns, tree, "error", m, raw::Error);
    if (tree.options.cumulative) AddCsv(columns, tree, "cumulative", m, raw::Cumulative);
  }
  AddList(columns, tree, "base", raw::Base);
  AddList(columns, tree, "raw", raw::Raw);
  AddList(columns, tree, "error", raw::Error);
  if (tree.options.cumulative) AddList(columns, tree, "cumulative", raw::Cumulative);
}

const model::ProductionTime* ProductionOf(const TreeRow& row) {
  const model::ProductionTimes& times = row.tree.source.production;
  const bool known = row.shown.row < times.size() && times[row.shown.row].known;
  return known ? &times[row.shown.row] : nullptr;
}

// The times of the sampled runs of a combined profile (model/combined/combined.h). The texts live
// until the row is written.
struct ProductionTexts {
  std::string time, all, half, per_call;
};
ShownTime OwnTime(const model::ProductionTime& time) {
  return {time.time, time.is_estimated, time.estimated};
}
ShownTime AllTime(const model::ProductionTime& time) {
  return {time.all, time.is_estimated, time.estimated_all};
}
void AddProduction(TreeColumns& columns, ProductionTexts& texts) {
  using Make = std::string (*)(const model::ProductionTime&);
  const auto text = [&](const char* name, int width, std::string& buffer, Make make) {
    columns.Add(kPeople, {name, width}, [&buffer, make](const TreeRow& row) {
      const model::ProductionTime* time = ProductionOf(row);
      return time ? Value::Text(buffer = make(*time)) : Value::Missing();
    });
  };
  columns.Add(kPeople, {"P-SAMPLES", 9}, [](const TreeRow& row) {
    const model::ProductionTime* time = ProductionOf(row);
    return time ? Value::Signed(model::Rounded(time->samples)) : Value::Missing();
  });
  text("P-SELF", 8, texts.time,
       [](const model::ProductionTime& time) { return ValueText(OwnTime(time)); });
  text("P-CUM", 8, texts.all,
       [](const model::ProductionTime& time) { return ValueText(AllTime(time)); });
  text("+-", 8, texts.half,
       [](const model::ProductionTime& time) { return ArmText(AllTime(time)); });
  text("P-CUM/CALL", 10, texts.per_call, [](const model::ProductionTime& time) {
    const uint64_t calls = time.outermost_calls.value_or(time.calls);
    if (calls == 0) return std::string("-");
    return (time.outermost_calls ? "" : kPerEntry) + ValueText(OfOneCall(AllTime(time), calls));
  });
  const auto number = [&](const char* name, double (*of)(const model::ProductionTime&)) {
    columns.Add(kCsv | kJson, {name}, [of](const TreeRow& row) {
      const model::ProductionTime* time = ProductionOf(row);
      return time ? Value::Number(of(*time)) : Value::Missing();
    });
  };
  number("production_samples", [](const model::ProductionTime& time) { return time.samples; });
  number("production_ns", [](const model::ProductionTime& time) { return time.time.value; });
  number("production_cum_ns", [](const model::ProductionTime& time) { return time.all.value; });
  number("production_estimated",
         [](const model::ProductionTime& time) { return time.is_estimated ? 1.0 : 0.0; });
  number("production_estimated_ns",
         [](const model::ProductionTime& time) { return time.estimated; });
  number("production_estimated_cum_ns",
         [](const model::ProductionTime& time) { return time.estimated_all; });
  number("production_cum_low_ns", [](const model::ProductionTime& time) { return time.all.low; });
  number("production_cum_high_ns", [](const model::ProductionTime& time) { return time.all.high; });
}

// Adds the interrupts, in CSV only where they were recorded.
void AddInterrupts(TreeColumns& columns, const NamedTree& tree) {
  if (!tree.forest.rows.has_interrupts)
    return columns.Add(kJson, {"in"}, [](const TreeRow&) { return Value::Missing(); });
  const auto interrupts = [](const TreeRow& row) { return Value::Integer(row.shown.interrupts); };
  columns.Add(kPeople, {.name = "IN", .width = 4, .spare = 1}, interrupts);
  columns.Add(kCsv | kJson, {"in"}, interrupts);
}

TreeColumns LogRtColumns(const NamedTree& tree, ProductionTexts& texts) {
  const auto calls = [](const TreeRow& row) { return Value::Integer(row.shown.calls); };
  const auto shown_calls = [calls](const TreeRow& row) {
    return row.type == Letter(FrameKind::kClass) ? Value::Missing() : calls(row);
  };
  const auto callees = [](const TreeRow& row) { return Value::Integer(row.shown.callees); };
  const auto dispatches = [](const TreeRow& row) { return Value::Integer(row.shown.dispatches); };
  const View view = EntryOf(tree.options.format).view;
  const int width = view == kPeople ? CallsWidth(tree.forest.rows) : 0;
  const int level_width = view == kPeople ? LevelWidth(tree.forest.rows) : 0;
  TreeColumns columns(view);
  AddIdentity(columns, tree.options);
  columns.Add(kPeople, {"LV", level_width},
              [](const TreeRow& row) { return Value::Integer(row.shown.level); });
  columns.Add(kPeople, {"CALLS", width}, shown_calls);
  if (tree.forest.metrics.empty()) columns.Add(kPeople, {"CEE", width}, callees);
  columns.Add(kCsv | kJson, {"calls"}, calls);
  columns.Add(kCsv | kJson, {"cee"}, callees);
  AddMetrics(columns, tree);
  AddSpread(columns, tree);
  if (view == kPeople) AddPerCall(columns, tree);  // computes its width from all rows
  if (!tree.source.production.empty()) AddProduction(columns, texts);
  if (HasDispatches(tree.forest.rows))
    columns.Add(kPeople, {.name = "DS", .width = 4, .spare = 1}, dispatches);
  columns.Add(kCsv | kJson, {"ds"}, dispatches);
  AddInterrupts(columns, tree);
  columns.Add(kPeople, {"NAME"}, [](const TreeRow& row) { return row.MarkedName(); });
  columns.Add(kCsv, {"name"},
              [](const TreeRow& row) { return Value::Text(row.tree.Name(row.shown)); });
  return columns;
}

void TextHead(NamedTree& tree, Output& out) {
  PrintTreeHead(tree, "log-rt", out);
  out.Text("\n");
}

}  // namespace

Result<void> PrintLogRt(model::Source& source, const Options& options, Output& out) {
  Result<model::Forest> forest = model::LoadForest(source, options);
  if (!forest) return std::unexpected(forest.error());
  NamedTree tree(source, *forest, options);
  if (options.format == Format::kCollapsed) return PrintCollapsed(tree, out);
  ProductionTexts texts;
  TreeColumns columns = LogRtColumns(tree, texts);
  Section head = {.text = [&](Output& text) { TextHead(tree, text); },
                  .json =
                      [&](JsonWriter& json) {
                        JsonMetrics(tree.forest, json);
                        JsonLosses(source, QualityOf(source, tree.forest), json);
                        JsonRun(source, "log-rt", json);
                      }};
  PrintTree(tree, columns, std::move(head), out);
  return {};
}

}  // namespace jprof::reports
