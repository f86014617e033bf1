// Writes the view of one profile's call tree, and of two.
#include <algorithm>
#include <array>
#include <cmath>

#include "common/shell_word.h"
#include "reports/compare/compare.h"
#include "reports/quality/quality_of.h"
#include "reports/view/distribution_view.h"
#include "reports/view/head.h"
#include "reports/view/line_view.h"
#include "reports/view/locks_view.h"
#include "reports/view/series_columns.h"
#include "reports/view/stretch_columns.h"
#include "reports/view/view.h"
#include "reports/view/views.h"

namespace jprof::reports {
namespace {

using nlohmann::json;

void AddRows(const model::Source& source, model::Forest& forest, ViewNames& names, ViewTree& tree) {
  const std::vector<std::string> threads = ThreadTexts(source.reader);
  const bool counted = forest.calls > 0 || forest.samples == 0;
  for (size_t i = 0; i < forest.rows.rows.size(); ++i) {
    const model::Row& row = forest.rows.rows[i];
    const std::string_view name = row.method == profile::kRootMethod
                                      ? std::string_view(threads[IndexOf(row.thread)])
                                      : forest.names.Of(row.method);
    tree.AddRow(row.parent, names.Of(name), forest.names.LetterOf(row.method, row.type, false));
    tree.thread.push_back(IndexOf(row.thread));
    if (counted) tree.calls.push_back(static_cast<double>(row.calls));
    for (size_t m = 0; m < forest.metrics.size(); ++m) {
      const model::MetricTotals& metric = forest.metrics[m];
      const model::Cell& cell = forest.rows.cell(i, m);
      tree.self[m].push_back(model::InUnit(metric, cell.base()));
      if (metric.calibrated || metric.info.is_samples())
        tree.error[m].push_back(static_cast<float>(model::InUnit(metric, cell.error)));
    }
  }
}

// Returns about one standard deviation of the value that one profile has in a context. If the
// number of samples behind a value is not known, the whole value may be chance.
float ErrorOf(const Side& side, const model::Amount& amount) {
  if (side.sampled && !side.counted) return static_cast<float>(side.inside.value);
  if (amount.error > 0 || amount.samples <= 0) return static_cast<float>(amount.error);
  return static_cast<float>(std::abs(amount.value) / std::sqrt(amount.samples));
}

ViewTree SideOf(const Comparison& comparison, size_t side) {
  ViewTree tree(1);
  for (const model::Context& context : comparison.tree.contexts) {
    tree.self[0].push_back(context.self[side].value);
    tree.error[0].push_back(ErrorOf(comparison.sides[side], context.self[side]));
  }
  return tree;
}

void DescribeSide(const Side& side, const char* label, ViewData& data) {
  data.Fact(label, fmt::format("{}: {} ({})", side.directory, side.how, side.metric));
  for (const std::string& note : side.notes) data.Loss(fmt::format("{}: {}", label, note));
}

// Describes how errors add up: those of sampled values as squares, those of measured values
// linearly. The page distinguishes them by `period` and `calibrated` (docs/VIEW.md).
json DescribeMetricOf(const Side& side) {
  const bool is_time = side.unit == "ns";
  json metric = {{"name", side.metric},
                 {"unit", side.unit},
                 {"kind", is_time ? "time" : "count"},
                 {"has_error", true}};
  if (!side.sampled) {
    metric["calibrated"] = true;
  } else if (is_time) {
    metric["period"] = 1;
    metric["period_unit"] = "ns";
  } else {
    metric["kind"] = side.unit == "samples" ? "samples" : "weighted";
  }
  if (side.counted) metric["one_sample"] = side.inside.value / side.inside.samples;
  return metric;
}

// Adds when the threads ran, if that was recorded, too. The page does without it if it is damaged.
void AddRecordedStretches(model::Source& source, Quality& quality, ViewNames& names,
                          ViewData& data) {
  if (!model::HasKernelEvents(source.reader.directory())) return;
  auto events = model::LoadEvents(source);
  AddEvents(events, quality);
  if (events) {
    for (const std::string& damage : events->stretches.damages) data.Loss("damaged: " + damage);
    AddStretches(*events, names, data);
  } else {
    data.Loss(events.error().message);
  }
}

// Compares values, not shares, so both must be in one unit.
Result<Comparison> CompareValues(model::Source& before, model::Source& after) {
  const auto shares = CompareTwo(before, after, {});
  if (!shares) return std::unexpected(shares.error());
  const std::array<Side, 2>& sides = shares->sides;
  if (sides[0].unit != sides[1].unit) {
    return WrongUse(
        "{} is in {} and {} in {}: a view of two profiles needs one unit; compare their shares "
        "with: jprof compare {} {}",
        sides[0].directory, sides[0].unit, sides[1].directory, sides[1].unit,
        ShellWord(sides[0].directory), ShellWord(sides[1].directory));
  }
  return CompareTwo(before, after, {.absolute = true});
}

}  // namespace

Result<ViewData> ViewOf(model::Source& source) {
  if (source.reader.meta().is(Mode::kTrace)) return ViewOfTrace(source);
  Result<model::Forest> forest = model::LoadForest(source, {});
  if (!forest) return std::unexpected(forest.error());
  if (forest->rows.rows.empty())
    return WrongUse("{}: no thread was recorded: nothing to show", source.reader.shown());
  ViewData data("tree", source.reader.shown());
  DescribeRun(source, data);
  DescribeUncertainty(source, *forest, data);
  ViewNames names;
  ViewTree tree(forest->metrics.size());
  AddRows(source, *forest, names, tree);
  for (const model::MetricTotals& metric : forest->metrics)
    data["metrics"].push_back(DescribeMetric(metric));
  for (const std::string& thread : ThreadTexts(source.reader))
    data["threads"].push_back(profile::CleanText(thread));
  data["trees"].push_back(Describe(tree, "", data));
  if (source.reader.meta().is(Mode::kLocks)) {
    auto locks = model::LoadLocks(source);
    if (!locks) return std::unexpected(locks.error());
    AddLocks(*locks, names, data);
  }
  AddLines(source, names, data);
  AddDistributions(*forest, names, data);
  AddSeries(source, names, data);
  Quality quality = QualityOf(source, *forest);
  AddRecordedStretches(source, quality, names, data);
  DescribeQuality(quality, data);
  data["methods"] = data.AddNames(names.all());
  return data;
}

Result<void> PrintView(model::Source& before, model::Source& after, Output& out) {
  const auto comparison = CompareValues(before, after);
  if (!comparison) return std::unexpected(comparison.error());
  ViewData data("compare", fmt::format("{} and {}", before.reader.shown(), after.reader.shown()));
  DescribeSide(comparison->sides[0], "old (A)", data);
  DescribeSide(comparison->sides[1], "new (B)", data);
  DescribeQuality(QualityOfBoth(*comparison), data);
  ViewNames names;
  const uint32_t all = names.Of("(all threads)");
  std::vector<uint32_t> place;
  for (const std::string& name : comparison->tree.names) place.push_back(names.Of(name));
  ViewTree first = SideOf(*comparison, 0);
  const std::vector<model::Context>& contexts = comparison->tree.contexts;
  for (size_t i = 0; i < contexts.size(); ++i) {
    if (i == 0) {
      first.AddRow(model::kNoNode, all, 'T');
    } else {
      first.AddRow(contexts[i].parent, place[contexts[i].name], ' ');
    }
  }
  for (const Side& one : comparison->sides) data["metrics"].push_back(DescribeMetricOf(one));
  data["threads"].push_back("(all threads)");
  data["trees"].push_back(Describe(first, "old", data));
  data["trees"].push_back(Describe(SideOf(*comparison, 1), "new", data, 1));
  data["methods"] = data.AddNames(names.all());
  return data.Print(out);
}

}  // namespace jprof::reports
