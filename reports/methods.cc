// Prints the call tree summed by method (docs/REPORTS.md).
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/tree/flat.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"

namespace jprof::reports {
namespace {

char Type(const model::Forest& forest, const Options& options, const model::MethodSum& sum) {
  return forest.names.LetterOf(sum.method, sum.type, options.static_letters);
}

// Returns false for a profile that has samples only.
bool HasCalls(const model::Forest& forest) { return forest.calls > 0 || forest.samples == 0; }

std::string_view Name(model::Forest& forest, const model::MethodSum& sum) {
  return sum.method == profile::kRootMethod ? "(outside any method)" : forest.names.Of(sum.method);
}

double Share(double part, double whole) {
  return whole > 0 ? std::max(0.0, 100 * part / whole) : 0;
}

// Returns the whole that shares refer to: BASE of the first metric, or calls.
double Whole(const model::Forest& forest) {
  return forest.metrics.empty() ? static_cast<double>(forest.calls)
                                : forest.metrics[0].raw - forest.metrics[0].adjust;
}
double Self(const model::Forest& forest, const model::MethodSum& sum) {
  return forest.metrics.empty() ? static_cast<double>(sum.calls) : sum.self[0].base();
}

// A row as the columns' getters see it.
struct MethodRow {
  model::Forest& forest;
  const Options& options;
  const model::MethodSum& sum;
  char type;
  std::string& buffer;  // for a text that is made for this row
};
using MethodColumns = Columns<MethodRow>;
using RawValue = double (*)(const model::MethodSum& sum, size_t metric);

double SelfBase(const model::MethodSum& sum, size_t m) { return sum.self[m].base(); }
double SelfRaw(const model::MethodSum& sum, size_t m) {
  return static_cast<double>(sum.self[m].raw);
}
double SelfAdjust(const model::MethodSum& sum, size_t m) { return sum.self[m].adjust; }
double SelfError(const model::MethodSum& sum, size_t m) { return sum.self[m].error; }
double WithCallees(const model::MethodSum& sum, size_t m) { return sum.cumulative[m]; }

constexpr std::pair<const char*, RawValue> kCsvValues[] = {{"base", SelfBase},
                                                           {"raw", SelfRaw},
                                                           {"adjust", SelfAdjust},
                                                           {"error", SelfError},
                                                           {"cumulative", WithCallees}};
constexpr std::pair<const char*, RawValue> kJsonValues[] = {
    {"base", SelfBase}, {"raw", SelfRaw}, {"error", SelfError}, {"cumulative", WithCallees}};

void AddMetricText(MethodColumns& columns, const model::Forest& forest, const Options& options,
                   size_t m) {
  const std::string suffix = m == 0 ? "" : "-" + std::to_string(m);
  const double scale = forest.metrics[m].info.scale;
  const auto add = [&](const char* name, RawValue raw, double least) {
    columns.Add(kPeople, {name + suffix, 15}, [scale, m, raw, least](const MethodRow& row) {
      return Value::Signed(model::Rounded(std::max(raw(row.sum, m) * scale, least)));
    });
  };
  constexpr double kAny = -INFINITY;
  if (options.raw) {
    add("RAW", SelfRaw, kAny);
    add("ADJUST", SelfAdjust, kAny);
  }
  const model::MetricTotals& metric = forest.metrics[m];
  columns.Add(kPeople, {(metric.info.is_samples() ? "SAMPLES" : "BASE") + suffix, 15},
              [&metric, m](const MethodRow& row) { return BaseValue(metric, row.sum.self[m]); });
  if (options.raw) add("ERROR", SelfError, kAny);
  add("CUM", WithCallees, 0);
}

void AddMetrics(MethodColumns& columns, const model::Forest& forest, const Options& options) {
  for (size_t m = 0; m < forest.metrics.size(); ++m) {
    const model::MetricTotals& metric = forest.metrics[m];
    AddMetricText(columns, forest, options, m);
    for (const auto& [name, raw] : kCsvValues) {
      columns.Add(kCsv, {fmt::format("{}:{}", name, metric.info.name)},
                  [&metric, m, raw = raw](const MethodRow& row) {
                    return Value::Number(model::InUnit(metric, raw(row.sum, m)));
                  });
    }
  }
  for (const auto& [name, raw] : kJsonValues) {
    columns.Add(kJson,
                {.name = name, .shape = Column::Shape::kList, .cells = forest.metrics.size()},
                [&forest, raw = raw](const MethodRow& row, size_t m) {
                  return Value::Number(model::InUnit(forest.metrics[m], raw(row.sum, m)));
                });
  }
}

void AddShares(MethodColumns& columns, const model::Forest& forest) {
  const double whole = Whole(forest);
  columns.Add(kPeople, {"SELF%", 6}, [whole](const MethodRow& row) {
    return Value::Fixed(Share(Self(row.forest, row.sum), whole), 2);
  });
  columns.Add(kPeople, {"CUM%", 6}, [whole](const MethodRow& row) {
    return Value::Fixed(Share(row.sum.cumulative[0], whole), 2);
  });
}

MethodColumns AllColumns(const model::Forest& forest, const Options& options) {
  const auto calls = [](const MethodRow& row) { return Value::Integer(row.sum.calls); };
  const auto contexts = [](const MethodRow& row) { return Value::Integer(row.sum.contexts); };
  const auto name = [](const MethodRow& row) { return Value::Text(Name(row.forest, row.sum)); };
  MethodColumns columns(EntryOf(options.format).view);
  AddShares(columns, forest);
  columns.Add(kCsv | kJson, {"type"}, [](const MethodRow& row) {
    return Value::Text({&row.type, 1});
  });
  columns.Add(kJson, {"name"}, name);
  if (HasCalls(forest)) {
    columns.Add(kPeople, {"CALLS", 12}, calls);
    columns.Add(kCsv | kJson, {"calls"}, calls);
  }
  columns.Add(kPeople, {"CTX", 8}, contexts);
  columns.Add(kCsv | kJson, {"contexts"}, contexts);
  AddMetrics(columns, forest, options);
  columns.Add(kPeople, {"NAME"}, [](const MethodRow& row) {
    const model::Names& names = row.forest.names;
    row.buffer = names.Mark(row.sum.method, row.sum.type, row.options.static_letters);
    row.buffer += Name(row.forest, row.sum);
    return Value::Text(row.buffer);
  });
  columns.Add(kCsv, {"name"}, name);
  return columns;
}

// Returns why a share is above 100 %, or an empty text if none is.
std::string AboveWhole(const model::Forest& forest, const std::vector<model::MethodSum>& sums) {
  for (const model::MethodSum& sum : sums) {
    const std::string above =
        model::AboveWholeText(forest, std::max(Self(forest, sum), sum.cumulative[0]));
    if (!above.empty()) return above;
  }
  return "";
}

void TextHead(const model::Source& source, const model::Forest& forest,
              const std::string& above_whole, Output& out) {
  Quality quality = QualityOf(source, forest);
  if (!above_whole.empty())
    quality.Add({{"shares", 1, Severity::kMajor, "shares are " + above_whole, "", "", ""}});
  PrintHead(ForestHead(source, forest, "methods"), quality, out);
  out.Print(
      " legend    {} the metric in the method itself, CUM with all it called (recursion counted "
      "once), CTX calling\n"
      "           sequences it was seen in; shares are of BASE of the first metric (of CALLS if "
      "there is none)\n{}\n",
      HasCalls(forest) ? "BASE" : "SAMPLES", BoundLegend(forest));
}

// Only text and Markdown hide rows below --min-percent.
bool IsShown(const model::Forest& forest, const Options& options, const model::MethodSum& sum) {
  if (EntryOf(options.format).view != kPeople) return true;
  const double whole = Whole(forest);
  const double share = std::max(Share(Self(forest, sum), whole), Share(sum.cumulative[0], whole));
  if (share >= options.min_percent) return true;
  const model::Cell self = forest.metrics.empty() ? model::Cell{} : sum.self[0];
  return model::IsLargeUnknown(forest, self, sum.calls, options.min_percent);
}

}  // namespace

Result<void> PrintMethods(model::Source& source, const Options& options, Output& out) {
  Result<model::Forest> forest = model::LoadForest(source, options);
  if (!forest) return std::unexpected(forest.error());
  const std::vector<model::MethodSum> sums = model::SumByMethod(*forest, /*with_cumulative=*/true);
  const std::string above_whole = AboveWhole(*forest, sums);
  const Layout layout = {
      .head = {.text = [&](Output& text) { TextHead(source, *forest, above_whole, text); },
               .json =
                   [&](JsonWriter& json) {
                     JsonMetrics(*forest, json);
                     JsonLosses(source, QualityOf(source, *forest), json);
                     JsonRun(source, "methods", json);
                   }},
      .rows = "methods"};
  MethodColumns columns = AllColumns(*forest, options);
  const auto writer = EntryOf(options.format).make(layout, out);
  std::string buffer;
  writer->Begin(columns.columns());
  for (const model::MethodSum& sum : sums) {
    if (!IsShown(*forest, options, sum)) continue;
    writer->Row(columns.Of({*forest, options, sum, Type(*forest, options, sum), buffer}));
  }
  writer->End();
  if (options.format == Format::kMarkdown && !above_whole.empty())  // it has no head
    out.Print("\nShares {}.\n", above_whole);
  return {};
}

}  // namespace jprof::reports
