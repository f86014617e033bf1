// Prints the call tree summed by method (docs/REPORTS.md).
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/sums/flat.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"
#include "reports/tree/outline.h"

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

// A row as the columns' getters see it.
struct MethodRow {
  model::Forest& forest;
  const Options& options;
  const model::MethodSum& sum;
  char type;
  std::string& buffer;            // for a text that is made for this row
  model::MainCaller caller = {};  // in text
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
  const model::MetricTotals& metric = forest.metrics[m];
  const int width = ShowsDurations(metric) ? 8 : 15;
  const auto add = [&](const char* name, RawValue raw, double least) {
    columns.Add(kPeople, {name + suffix, width}, [&metric, m, raw, least](const MethodRow& row) {
      return ShownValue(metric, std::max(raw(row.sum, m), least));
    });
  };
  constexpr double kAny = -INFINITY;
  if (options.raw) {
    add("RAW", SelfRaw, kAny);
    add("ADJUST", SelfAdjust, kAny);
  }
  columns.Add(kPeople, {(metric.info.is_samples() ? "SAMPLES" : "SELF") + suffix, width},
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
  const double whole = model::WholeOf(forest);
  columns.Add(kPeople, {"SELF%", 6}, [whole](const MethodRow& row) {
    return Value::Fixed(Share(model::OwnOf(row.forest, row.sum), whole), 2);
  });
  columns.Add(kPeople, {"CUM%", 6}, [whole](const MethodRow& row) {
    return Value::Fixed(Share(row.sum.cumulative[0], whole), 2);
  });
}

int CallsWidth(const model::Forest& forest) {
  return std::max(5, static_cast<int>(fmt::formatted_size("{}", forest.calls)));
}

// Adds SELF of the first metric per call. (CUM per call would be wrong for recursive methods.)
void AddPerCall(MethodColumns& columns, const model::Forest& forest) {
  if (forest.metrics.empty() || forest.calls == 0) return;
  columns.Add(kPeople, {.name = "SELF/CALL", .width = 9, .spare = 2}, [](const MethodRow& row) {
    if (row.sum.calls == 0) return Value::Missing();
    const double own = std::max(row.sum.self[0].base(), 0.0);
    return ShownValue(row.forest.metrics[0], own / static_cast<double>(row.sum.calls));
  });
}

// Returns the letter and the name, and " < CALLER" with the main caller.
std::string ShownName(const MethodRow& row) {
  model::Names& names = row.forest.names;
  std::string name = names.Mark(row.sum.method, row.sum.type, row.options.static_letters);
  if (row.sum.method == profile::kRootMethod) return name.append(Name(row.forest, row.sum));
  name += names.In(row.options.names, row.sum.method);
  if (row.caller.method == profile::kRootMethod) return name;
  name.append(" < ").append(names.In(ShortOf(row.options.names), row.caller.method));
  if (row.caller.share < 0.995) name += fmt::format(" {:.0f} %", 100 * row.caller.share);
  return name;
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
    columns.Add(kPeople, {"CALLS", CallsWidth(forest)}, calls);
    columns.Add(kCsv | kJson, {"calls"}, calls);
  }
  columns.Add(kPeople, {.name = "CTX", .width = 6, .spare = 1}, contexts);
  columns.Add(kCsv | kJson, {"contexts"}, contexts);
  AddMetrics(columns, forest, options);
  AddPerCall(columns, forest);
  columns.Add(kPeople, {"NAME"}, [](const MethodRow& row) {
    row.buffer = ShownName(row);
    return Value::Text(row.buffer);
  });
  columns.Add(kCsv, {"name"}, name);
  return columns;
}

// Returns why a share is above 100 %, or an empty text if none is.
std::string AboveWhole(const model::Forest& forest, const std::vector<model::MethodSum>& sums) {
  for (const model::MethodSum& sum : sums) {
    const std::string above =
        model::AboveWholeText(forest, std::max(model::OwnOf(forest, sum), sum.cumulative[0]));
    if (!above.empty()) return above;
  }
  return "";
}

void TextHead(const model::Source& source, const model::Forest& forest,
              const std::string& above_whole, size_t width, Output& out) {
  Quality quality = QualityOf(source, forest);
  if (!above_whole.empty())
    quality.Add({{"shares", 1, Severity::kMajor, "shares are " + above_whole, "", "", ""}});
  Head head = ForestHead(source, forest, "methods");
  head.width = width;
  PrintHead(head, quality, out);
  out.Text("\n");
}

bool IsShown(const model::Forest& forest, const Options& options, const model::MethodSum& sum) {
  const double whole = model::WholeOf(forest);
  const double share =
      std::max(Share(model::OwnOf(forest, sum), whole), Share(sum.cumulative[0], whole));
  if (share >= options.percent()) return true;
  const model::Cell self = forest.metrics.empty() ? model::Cell{} : sum.self[0];
  return model::IsLargeUnknown(forest, self, sum.calls, options.percent());
}

// Removes what text does not show: methods below --min-percent or, by default, those with the least
// of their own that do not fit a screen. Returns the line that says so.
std::string HideSmall(const model::Forest& forest, const Options& options,
                      std::vector<model::MethodSum>& sums) {
  if (!options.for_people()) return "";
  const size_t all = sums.size();
  if (options.fits_screen()) {
    sums.resize(std::min(all, kScreenRows));
  } else {
    std::erase_if(sums,
                  [&](const model::MethodSum& sum) { return !IsShown(forest, options, sum); });
  }
  return MoreText(all - sums.size(), "method");
}

}  // namespace

Result<void> PrintMethods(model::Source& source, const Options& options, Output& out) {
  model::ForestOptions loaded = options;
  loaded.pools = false;  // CTX counts the contexts of each thread
  Result<model::Forest> forest = model::LoadForest(source, loaded);
  if (!forest) return std::unexpected(forest.error());
  std::vector<model::MethodSum> sums = model::SumByMethod(*forest, /*with_cumulative=*/true);
  const std::string above_whole = AboveWhole(*forest, sums);
  const std::string more = HideSmall(*forest, options, sums);
  const Layout layout = {.head = {.text =
                                      [&](Output& text) {
                                        TextHead(source, *forest, above_whole, options.width, text);
                                      },
                                  .json =
                                      [&](JsonWriter& json) {
                                        JsonMetrics(*forest, json);
                                        JsonLosses(source, QualityOf(source, *forest), json);
                                        JsonRun(source, "methods", json);
                                      }},
                         .tail = {.text = [&](Output& text) { text.Text(more); }},
                         .rows = "methods",
                         .width = options.width,
                         .legend = options.legend};
  std::vector<model::MainCaller> callers(sums.size());
  if (options.for_people()) callers = model::MainCallers(*forest, sums);
  MethodColumns columns = AllColumns(*forest, options);
  const auto writer = EntryOf(options.format).make(layout, out);
  std::string buffer;
  writer->Begin(columns.columns());
  for (size_t i = 0; i < sums.size(); ++i) {
    const char type = Type(*forest, options, sums[i]);
    writer->Row(columns.Of({*forest, options, sums[i], type, buffer, callers[i]}));
  }
  writer->End();
  if (options.format == Format::kMarkdown && !above_whole.empty())  // it has no head
    out.Print("\nShares {}.\n", above_whole);
  return {};
}

}  // namespace jprof::reports
