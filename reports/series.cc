// Prints the methods over time (docs/SERIES.md): what each called and used in each interval.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "model/sums/series_table.h"
#include "reports/print/formats.h"
#include "reports/print/units.h"
#include "reports/quality/metric_text.h"
#include "reports/quality/profile_facts.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

constexpr size_t kTextColumns = 40;

// A row as the columns' getters see it.
struct SeriesRow {
  const model::MethodOverTime& method;
  char type;
  std::string_view name, line;
};
using SeriesColumns = Columns<SeriesRow>;

double ValueAt(const model::SeriesTable& table, const model::MethodOverTime& method, size_t i) {
  return table.has_metric() ? std::max(method.own[i], 0.0) : static_cast<double>(method.calls[i]);
}

// Returns one character for each column, as high as the method's share of its own maximum.
std::string LineOf(const model::SeriesTable& table, const model::MethodOverTime& method) {
  constexpr const char* kBars[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                   "\u2585", "\u2586", "\u2587", "\u2588"};
  double most = 0;
  for (size_t i = 0; i < table.columns(); ++i) most = std::max(most, ValueAt(table, method, i));
  std::string line;
  for (size_t i = 0; i < table.columns(); ++i) {
    const double value = ValueAt(table, method, i);
    line += value <= 0 ? "." : kBars[std::min<size_t>(static_cast<size_t>(value / most * 8), 7)];
  }
  return line;
}

std::string_view SeriesName(model::SeriesTable& table, const model::MethodOverTime& method,
                            model::NameForm form) {
  if (method.method == profile::kRootMethod) return "(outside any method)";
  return table.names.In(form, method.method);
}

// Returns a value in the metric's unit.
Value InUnit(const model::SeriesTable& table, double raw) {
  return Value::Number(raw * table.metrics.front().info.scale);
}

void AddData(const model::SeriesTable& table, SeriesColumns& columns) {
  constexpr unsigned kData = kCsv | kJson;
  columns.Add(kData, {"name"}, [](const SeriesRow& row) { return Value::Text(row.name); });
  columns.Add(kData, {"type"},
              [](const SeriesRow& row) { return Value::Text(std::string_view(&row.type, 1)); });
  columns.Add(kData, {"calls"},
              [](const SeriesRow& row) { return Value::Integer(row.method.all_calls); });
  if (table.has_metric()) {
    columns.Add(kData, {"base"},
                [&](const SeriesRow& row) { return InUnit(table, row.method.all_own); });
  }
  const auto list = [&](const char* name, auto value) {
    columns.Add(kJson, {.name = name, .shape = Column::Shape::kList, .cells = table.columns()},
                value);
    for (size_t i = 0; i < table.columns(); ++i) {
      columns.Add(kCsv, {fmt::format("{}_{}", name, table.first + i + 1)},
                  [value, i](const SeriesRow& row) { return value(row, i); });
    }
  };
  list("calls_at",
       [](const SeriesRow& row, size_t i) { return Value::Integer(row.method.calls[i]); });
  if (!table.has_metric()) return;
  list("base_at",
       [&table](const SeriesRow& row, size_t i) { return InUnit(table, row.method.own[i]); });
}

SeriesColumns ColumnsOf(const model::SeriesTable& table, const Options& options) {
  SeriesColumns columns(EntryOf(options.format).view);
  if (table.has_metric()) {
    const model::MetricTotals& metric = table.metrics.front();
    const int width = ShowsDurations(metric) ? 8 : 15;
    columns.Add(kPeople, {metric.info.is_samples() ? "SAMPLES" : "SELF", width},
                [&](const SeriesRow& row) { return ShownValue(metric, row.method.all_own); });
  }
  columns.Add(kPeople, {"CALLS", 12},
              [](const SeriesRow& row) { return Value::Integer(row.method.all_calls); });
  columns.Add(kPeople, {"TREND", static_cast<int>(std::max<size_t>(table.columns(), 5))},
              [](const SeriesRow& row) { return Value::Text(row.line); });
  columns.Add(kPeople, {"NAME"}, [](const SeriesRow& row) { return Value::Text(row.name); });
  AddData(table, columns);
  return columns;
}

void TextHead(const model::Source& source, const model::SeriesTable& table, Output& out) {
  Head head = RunHead(source, "series");
  const double step = (table.ends.back() - table.begin) / static_cast<double>(table.columns());
  head.lines.push_back(
      {"columns",
       fmt::format("{} from {} to {} of the recording, each about {}; {}", table.columns(),
                   Duration(table.begin * 1e9), Duration(table.ends.back() * 1e9),
                   Duration(step * 1e9), Counted(table.intervals, "snapshot", "snapshots"))});
  PrintHead(head, QualityOfProfile({source, table.metrics, &table.names}), out);
  out.Text("\n");
}

void JsonHead(const model::Source& source, const model::SeriesTable& table, JsonWriter& json) {
  JsonRun(source, "series", json);
  if (table.has_metric()) {
    json.Member("metric", table.metrics.front().info.name);
    json.Member("unit", table.metrics.front().info.unit);
    json.Member("calibrated", table.metrics.front().calibrated);
  }
  json.Key("begin_s");
  json.Shortest(table.begin);
  json.Key("ends_s");
  json.StartArray();
  for (const double end : table.ends) json.Shortest(end);
  json.EndArray();
  JsonLosses(source, QualityOfProfile({source, table.metrics, &table.names}), json);
}

}  // namespace

Result<void> PrintSeries(model::Source& source, const Options& options, Output& out) {
  const bool people = options.for_people();
  auto table = model::LoadSeriesTable(source, options, people ? kTextColumns : SIZE_MAX);
  if (!table) return std::unexpected(table.error());
  const size_t all = table->methods.size();
  const size_t shown = options.fits_screen() ? std::min(all, kScreenRows) : all;
  const Layout layout = {
      .head = {.text = [&](Output& text) { TextHead(source, *table, text); },
               .json = [&](JsonWriter& json) { JsonHead(source, *table, json); }},
      .tail = {.text = [&](Output& text) { text.Text(MoreText(all - shown, "method")); }},
      .rows = "methods",
      .width = options.width,
      .legend = options.legend};
  SeriesColumns columns = ColumnsOf(*table, options);
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  for (const model::MethodOverTime& method : std::span(table->methods).first(shown)) {
    const std::string line = people ? LineOf(*table, method) : "";
    const char type = table->names.LetterOf(method.method, method.type, false);
    std::string name(SeriesName(*table, method, people ? options.names : model::NameForm::kJvm));
    if (people && method.method != profile::kRootMethod) name = fmt::format("{}:{}", type, name);
    const SeriesRow row = {method, type, name, line};
    writer->Row(columns.Of(row));
  }
  writer->End();
  return {};
}

}  // namespace jprof::reports
