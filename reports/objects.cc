// Prints the allocated objects summed by class, with the methods that allocate them
// (docs/REPORTS.md).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/shell_word.h"
#include "model/sums/object_sums.h"
#include "model/tree/live_history.h"
#include "model/values/amount.h"
#include "model/values/statistics.h"
#include "profile/files/object_metrics.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

using model::ObjectSum;

constexpr char kOutside[] = "(outside any method)";

// A class or, if `of` is not null, a method that allocates that class.
struct ObjectRow {
  model::Forest& forest;
  const Options& options;
  const ObjectSum& sum;
  const ObjectSum* of;
  std::string& buffer;         // for a text that is made for this row
  const model::LiveNow* live;  // of estimated live objects, else null
};
using ObjectColumns = Columns<ObjectRow>;

std::string_view NameOf(model::Forest& forest, const ObjectSum& sum) {
  return sum.method == profile::kRootMethod ? kOutside : forest.names.Of(sum.method);
}

std::string ShownName(const ObjectRow& row) {
  model::Names& names = row.forest.names;
  const std::string mark = row.of == nullptr ? "" : "  < ";
  if (row.sum.method == profile::kRootMethod) return mark + kOutside;
  std::string name = mark + names.Mark(row.sum.method, row.sum.type, false) +
                     std::string(names.In(row.options.names, row.sum.method));
  if (row.sum.program_bytes <= 0 || row.sum.values.empty()) return name;
  const double share = model::PercentOf(static_cast<double>(row.sum.program_bytes),
                                        static_cast<double>(row.sum.values.front()));
  return fmt::format("{}, {:.0f} % of it in {}", name, share,
                     names.In(row.options.names, row.sum.program_method));
}

// What a report is about: `rank` is the number by which rows are sorted, and of which text shows
// the percentage.
struct ObjectReport {
  const char* name;
  int64_t (*rank)(const ObjectSum&);
  bool removed;  // compares what code asks for with what is allocated
};
constexpr ObjectReport kObjectsReport = {
    "objects", [](const ObjectSum& sum) { return sum.values.empty() ? 0 : sum.values.front(); },
    false};
constexpr ObjectReport kRemovedReport = {"removed",
                                         [](const ObjectSum& sum) { return sum.removed; }, true};

double WholeOf(const ObjectReport& report, const std::vector<ObjectSum>& sums) {
  double whole = 0;
  for (const ObjectSum& sum : sums) whole += static_cast<double>(report.rank(sum));
  return whole;
}

// Returns the interval of LB or LO, or nothing if the row has no live objects.
std::optional<model::Estimate> IntervalOf(const ObjectRow& row, bool bytes) {
  if (row.live == nullptr) return std::nullopt;
  const model::LiveNow::Sums* const sums = row.of != nullptr
                                               ? row.live->Of(row.of->method, row.sum.method)
                                               : row.live->Of(row.sum.method);
  if (sums == nullptr) return std::nullopt;
  return (bytes ? sums->bytes : sums->objects).Get();
}

// Adds the interval of an estimated metric: half of it in text, its ends in data.
void AddInterval(ObjectColumns& columns, const profile::ObjectMetric& metric) {
  const bool bytes = metric.unit == "bytes";
  const auto add = [&](unsigned views, Column column, double (*part)(const model::Estimate&)) {
    columns.Add(views, std::move(column), [bytes, part](const ObjectRow& row) {
      const auto interval = IntervalOf(row, bytes);
      return interval ? Value::Signed(model::Rounded(part(*interval))) : Value::Missing();
    });
  };
  add(kPeople, {"+-" + std::string(metric.heading), 12},
      [](const model::Estimate& of) { return (of.high - of.low) / 2; });
  add(kCsv | kJson, {std::string(metric.name) + "_low"},
      [](const model::Estimate& of) { return of.low; });
  add(kCsv | kJson, {std::string(metric.name) + "_high"},
      [](const model::Estimate& of) { return of.high; });
}

void AddRemoved(ObjectColumns& columns) {
  const auto add = [&](const char* heading, const char* key, int64_t ObjectSum::*member) {
    const auto value = [member](const ObjectRow& row) { return Value::Signed(row.sum.*member); };
    columns.Add(kPeople, {heading, 14}, value);
    columns.Add(kCsv | kJson, {key}, value);
  };
  add("REMOVED", "removed", &ObjectSum::removed);
  add("NO-NEW", "without_new", &ObjectSum::without_new);
}

ObjectColumns ColumnsOfObjects(const ObjectReport& report, const model::Forest& forest,
                               const Options& options, double whole) {
  ObjectColumns columns(EntryOf(options.format).view);
  columns.Add(kPeople, {"%", 5}, [whole, &report](const ObjectRow& row) {
    return Value::Fixed(model::PercentOf(static_cast<double>(report.rank(row.sum)), whole), 1);
  });
  for (const profile::ObjectMetric& metric : profile::kObjectMetrics) {
    const auto place = model::PlaceOf(forest, metric.name);
    if (!place || (report.removed && metric.live)) continue;
    const auto value = [m = *place](const ObjectRow& row) {
      return Value::Signed(row.sum.values[m]);
    };
    columns.Add(kPeople, {std::string(metric.heading), 14}, value);
    columns.Add(kCsv | kJson, {std::string(metric.name)}, value);
    if (forest.metrics[*place].info.is_estimate()) AddInterval(columns, metric);
  }
  if (report.removed) AddRemoved(columns);
  const auto contexts = [](const ObjectRow& row) { return Value::Integer(row.sum.contexts); };
  columns.Add(kPeople, {.name = "CTX", .width = 6, .spare = 1}, contexts);
  columns.Add(kCsv | kJson, {"contexts"}, contexts);
  columns.Add(kPeople, {"NAME"}, [](const ObjectRow& row) {
    row.buffer = ShownName(row);
    return Value::Text(row.buffer);
  });
  columns.Add(kCsv | kJson, {"class"}, [](const ObjectRow& row) {
    return Value::Text(NameOf(row.forest, row.of != nullptr ? *row.of : row.sum));
  });
  columns.Add(kCsv | kJson, {"method"}, [](const ObjectRow& row) {
    return row.of != nullptr ? Value::Text(NameOf(row.forest, row.sum)) : Value::Missing();
  });
  const auto has_program = [](const ObjectRow& row) { return row.sum.program_bytes > 0; };
  columns.Add(kCsv | kJson, {"program_method"}, [has_program](const ObjectRow& row) {
    if (!has_program(row)) return Value::Missing();
    return Value::Text(row.forest.names.Of(row.sum.program_method));
  });
  columns.Add(kCsv | kJson, {"program_bytes"}, [has_program](const ObjectRow& row) {
    return has_program(row) ? Value::Signed(row.sum.program_bytes) : Value::Missing();
  });
  return columns;
}

// Limits what text shows to a screen: as many classes as fit with up to three methods each. Rows of
// no class always remain. Returns the line that says what was left out.
std::string HideSmall(const ObjectReport& report, double whole, const Options& options,
                      std::vector<ObjectSum>& sums) {
  if (!options.for_people() || options.all) return "";
  constexpr size_t kMethods = 3;
  const size_t all = sums.size();
  size_t rows = 0;
  std::erase_if(sums, [&](ObjectSum& sum) {
    sum.callers.resize(std::min(sum.callers.size(), kMethods));
    rows += 1 + sum.callers.size();
    if (sum.callers.empty()) return false;
    if (options.min_percent)
      return model::PercentOf(static_cast<double>(report.rank(sum)), whole) < *options.min_percent;
    return rows > kScreenRows;
  });
  return MoreText(all - sums.size(), "type");
}

Result<model::Forest> Load(const ObjectReport& report, model::Source& source,
                           const Options& options) {
  Result<model::Forest> forest = model::LoadForest(source, options);
  const bool has_it =
      forest && (report.removed ? PlaceOf(*forest, profile::kAskedMetric).has_value()
                                : model::HasObjects(*forest));
  if (!forest || has_it) return forest;
  const std::string& directory = source.reader.shown();
  if (report.removed)
    return WrongUse(
        "{} does not say what code asks for; record it with: jprof objects --removed -- java ...",
        directory);
  return WrongUse(
      "{} has no allocated objects; record them with: jprof objects -- java ...; its "
      "default report is printed by: jprof report {}",
      directory, ShellWord(directory));
}

// Returns the intervals of live objects that were estimated, which merged profiles do not have.
std::optional<model::LiveNow> LoadIntervals(model::Source& source, const model::Forest& forest) {
  const bool estimated = std::ranges::any_of(
      forest.metrics, [](const auto& metric) { return metric.info.is_estimate(); });
  if (!estimated) return std::nullopt;
  const auto history = model::LoadLive(source);
  if (!history) return std::nullopt;
  return model::LiveNow(*history);
}

// Returns the line that sums up the comparison.
std::string TotalsText(const std::vector<ObjectSum>& sums) {
  int64_t removed = 0, without_new = 0;
  for (const ObjectSum& sum : sums) {
    removed += sum.removed;
    without_new += sum.without_new;
  }
  return fmt::format(
      "{} objects were asked for by `new` and not allocated; {} were allocated without `new` in "
      "counted code: by native methods, reflection, clone, lambdas, intrinsics and the VM\n",
      removed, without_new);
}

Result<void> Print(const ObjectReport& report, model::Source& source, const Options& options,
                   Output& out) {
  Result<model::Forest> forest = Load(report, source, options);
  if (!forest) return std::unexpected(forest.error());
  std::vector<ObjectSum> sums = model::SumByClass(*forest, report.rank);
  if (report.removed) {
    std::erase_if(sums, [](const ObjectSum& sum) { return sum.callers.empty(); });  // of no class
  }
  const double whole = report.removed ? WholeOf(report, sums) : forest->metrics.front().raw;
  std::string tail = report.removed ? TotalsText(sums) : "";
  tail += HideSmall(report, whole, options, sums);
  const Layout layout = {.head = {.text =
                                      [&](Output& text) {
                                        PrintHead(ForestHead(source, *forest, report.name),
                                                  QualityOf(source, *forest), text);
                                        text.Text("\n");
                                      },
                                  .json =
                                      [&](JsonWriter& json) {
                                        JsonMetrics(*forest, json);
                                        JsonLosses(source, QualityOf(source, *forest), json);
                                        JsonRun(source, report.name, json);
                                      }},
                         .tail = {.text = [&](Output& text) { text.Text(tail); }},
                         .rows = "classes",
                         .width = options.width,
                         .legend = options.legend};
  const std::optional<model::LiveNow> live = LoadIntervals(source, *forest);
  const model::LiveNow* const intervals = live ? &*live : nullptr;
  ObjectColumns columns = ColumnsOfObjects(report, *forest, options, whole);
  const auto writer = EntryOf(options.format).make(layout, out);
  std::string buffer;
  writer->Begin(columns.columns());
  for (const ObjectSum& sum : sums) {
    writer->Row(columns.Of({*forest, options, sum, nullptr, buffer, intervals}));
    for (const ObjectSum& caller : sum.callers)
      writer->Row(columns.Of({*forest, options, caller, &sum, buffer, intervals}));
  }
  writer->End();
  return {};
}

}  // namespace

Result<void> PrintObjects(model::Source& source, const Options& options, Output& out) {
  return Print(kObjectsReport, source, options, out);
}

Result<void> PrintRemoved(model::Source& source, const Options& options, Output& out) {
  return Print(kRemovedReport, source, options, out);
}

}  // namespace jprof::reports
