#include "cli/fleet/fleet_output.h"

#include <cstdio>

#include "common/utc_text.h"
#include "profile/files/printable_text.h"
#include "reports/print/columns.h"
#include "reports/print/table_writer.h"

namespace jprof::cli {
namespace {

using fleet::HistoryRow;
using fleet::OutlierRow;
using fleet::TopRow;
using reports::Column;
using reports::Columns;
using reports::kCsv;
using reports::kJson;
using reports::kPeople;
using reports::Value;

constexpr unsigned kAll = kPeople | kCsv | kJson;
constexpr unsigned kPrograms = kCsv | kJson;

Value Percent(double share) { return Value::Fixed(share * 100, 3); }

// Prints the rows after a line about them.
template <typename Row>
Result<void> Print(Columns<Row>& columns, const std::vector<Row>& rows, const std::string& head,
                   reports::Format format, size_t width) {
  reports::Output out(stdout, reports::ShowsColour(stdout));
  columns.FitWidths(rows);
  columns.columns().back().width = 0;  // names are not aligned
  const reports::Layout layout = {
      .head = {.text = [&](reports::Output& to) { to.Print("{}\n\n", profile::CleanText(head)); },
               .json = [&](reports::JsonWriter& json) { json.Member("about", head); }},
      .width = width};
  const reports::FormatEntry& entry = reports::EntryOf(format);
  const auto writer = entry.make(layout, out);
  writer->Begin(columns.columns());
  for (const Row& row : rows) writer->Row(columns.Of(row));
  writer->End();
  return out.Finish();
}

std::string MeasureText(const fleet::Measure& measure) {
  return measure.unit.empty() || measure.unit == measure.name
             ? measure.name
             : fmt::format("{} in {}", measure.name, measure.unit);
}

}  // namespace

Result<void> PrintTop(const fleet::Top& top, reports::Format format, size_t width) {
  Columns<TopRow> columns(reports::EntryOf(format).view);
  columns.Add(kPeople, {"SHARE %"}, [](const TopRow& row) { return Percent(row.share); });
  columns.Add(kPrograms, {"share"}, [](const TopRow& row) { return Value::Number(row.share); });
  columns.Add(kPeople, {"TOTAL"}, [](const TopRow& row) { return Value::Fixed(row.total, 0); });
  columns.Add(kPrograms, {"total"}, [](const TopRow& row) { return Value::Number(row.total); });
  columns.Add(kPeople, {"A RUN"}, [](const TopRow& row) { return Value::Fixed(row.mean, 1); });
  columns.Add(kPeople, {"±"}, [](const TopRow& row) { return Value::Fixed(row.arm, 1); });
  columns.Add(kPrograms, {"mean"}, [](const TopRow& row) { return Value::Number(row.mean); });
  columns.Add(kPrograms, {"mean_arm"}, [](const TopRow& row) { return Value::Number(row.arm); });
  columns.Add(kPeople, {"RUNS"}, [](const TopRow& row) { return Value::Integer(row.runs); });
  columns.Add(kPrograms, {"runs"}, [](const TopRow& row) { return Value::Integer(row.runs); });
  columns.Add(kPrograms, {"context"}, [](const TopRow& row) { return Value::Text(row.context); });
  columns.Add(kPrograms, {"path"}, [](const TopRow& row) { return Value::Text(row.path); });
  std::vector<std::string> names;
  columns.Add(kAll, {format == reports::Format::kText ? "NAME" : "name"}, [&](const TopRow& row) {
    if (format != reports::Format::kText || row.path.empty()) return Value::Text(row.name);
    names.push_back(row.name + " < " + row.path);
    return Value::Text(names.back());
  });
  names.reserve(top.rows.size() * 2);
  const std::string head = fmt::format(
      "{} of {} runs on {} hosts, own values without callees; A RUN ± 95 % between {} runs",
      MeasureText(top.measure), top.runs, top.hosts, top.drawn);
  return Print(columns, top.rows, head, format, width);
}

Result<void> PrintHistory(const fleet::History& history, reports::Format format, size_t width) {
  Columns<HistoryRow> columns(reports::EntryOf(format).view);
  std::vector<std::string> days;
  days.reserve(history.rows.size() * 2);
  const auto day = [&](const HistoryRow& row) {
    days.push_back(UtcText(static_cast<std::time_t>(row.day * 86400)).substr(0, 10));
    return Value::Text(days.back());
  };
  columns.Add(kPeople, {"DAY"}, day);
  columns.Add(kPrograms, {"day"}, day);
  columns.Add(kPeople, {"RUNS"}, [](const HistoryRow& row) { return Value::Integer(row.runs); });
  columns.Add(kPrograms, {"runs"}, [](const HistoryRow& row) { return Value::Integer(row.runs); });
  columns.Add(kPeople, {"SHARE %"}, [](const HistoryRow& row) { return Percent(row.share); });
  columns.Add(kPeople, {"±"}, [](const HistoryRow& row) { return Percent(row.arm); });
  columns.Add(kPrograms, {"share"}, [](const HistoryRow& row) { return Value::Number(row.share); });
  columns.Add(kPrograms, {"share_arm"},
              [](const HistoryRow& row) { return Value::Number(row.arm); });
  columns.Add(kPeople, {"A RUN"}, [](const HistoryRow& row) { return Value::Fixed(row.mean, 1); });
  columns.Add(kPrograms, {"mean"}, [](const HistoryRow& row) { return Value::Number(row.mean); });
  columns.Add(kPeople, {"CHANGE"}, [](const HistoryRow& row) {
    return row.changes ? Value::Text("changed") : Value::Text("");
  });
  columns.Add(kPrograms, {"changed"},
              [](const HistoryRow& row) { return Value::Bool(row.changes); });
  columns.Add(kPrograms, {"change_p"}, [](const HistoryRow& row) { return Value::Number(row.p); });
  const auto version = [](const HistoryRow& row) { return Value::Text(row.version); };
  columns.Add(kPeople, {"VERSION"}, version);
  columns.Add(kPrograms, {"version"}, version);
  const std::string head = fmt::format(
      "{} of {}: mean share of a run ± 95 % between runs; changes by binary segmentation with "
      "Welch's t test, p below 0.001 after correction",
      MeasureText(history.measure), history.name);
  return Print(columns, history.rows, head, format, width);
}

Result<void> PrintOutliers(const fleet::Outliers& outliers, reports::Format format, size_t width) {
  Columns<OutlierRow> columns(reports::EntryOf(format).view);
  const auto host = [](const OutlierRow& row) { return Value::Text(row.host); };
  columns.Add(kPeople, {"HOST"}, host);
  columns.Add(kPrograms, {"host"}, host);
  columns.Add(kPeople, {"RUNS"}, [](const OutlierRow& row) { return Value::Integer(row.runs); });
  columns.Add(kPrograms, {"runs"}, [](const OutlierRow& row) { return Value::Integer(row.runs); });
  columns.Add(kPeople, {"SHARE %"}, [](const OutlierRow& row) { return Percent(row.share); });
  columns.Add(kPeople, {"MEDIAN %"}, [](const OutlierRow& row) { return Percent(row.median); });
  columns.Add(kPrograms, {"share"}, [](const OutlierRow& row) { return Value::Number(row.share); });
  columns.Add(kPrograms, {"median"},
              [](const OutlierRow& row) { return Value::Number(row.median); });
  columns.Add(kPeople, {"SCORE"}, [](const OutlierRow& row) { return Value::Fixed(row.score, 1); });
  columns.Add(kPrograms, {"score"}, [](const OutlierRow& row) { return Value::Number(row.score); });
  columns.Add(kAll, {format == reports::Format::kText ? "NAME" : "name"},
              [](const OutlierRow& row) { return Value::Text(row.name); });
  const std::string head = fmt::format(
      "{} of the {} hottest methods on {} hosts: shares that are far from the median of all hosts; "
      "SCORE: distance in 1.4826 median absolute deviations",
      MeasureText(outliers.measure), outliers.methods, outliers.hosts);
  return Print(columns, outliers.rows, head, format, width);
}

}  // namespace jprof::cli
