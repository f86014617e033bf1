// Prints the trace: entries and exits in order (docs/REPORTS.md).
#include <algorithm>
#include <functional>
#include <vector>

#include "model/tree/trace_values.h"
#include "profile/read/reader_trace.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

// One event, ready to print.
struct Line {
  int64_t value = 0;
  bool exit = false;
  char type = '?';
  std::string_view name;  // of text, in the form that the options ask for
  const profile::Thread& thread;
  uint64_t missing = 0;
};

// Prints missing events as a line of their own, because text is no table.
void PrintTextLine(const Line& line, Output& out) {
  if (line.missing > 0)
    out.Print("{:8} ? ({} events are missing here) {}\n", 0, line.missing, line.thread.name);
  out.Print("{:8} {} {}:{} {}\n", line.value, line.exit ? '<' : '>', line.type, line.name,
            line.thread.name);
}

Columns<Line> LogGenColumns(View view) {
  const auto name = [](const Line& line) { return Value::Text(line.name); };
  Columns<Line> columns(view);
  columns.Add(kCsv | kJson, {"tid"},
              [](const Line& line) { return Value::Integer(line.thread.record.tid); });
  columns.Add(kCsv | kJson, {"thread"},
              [](const Line& line) { return Value::Text(line.thread.name); });
  columns.Add(kCsv | kJson, {"event"},
              [](const Line& line) { return Value::Text(line.exit ? "exit" : "entry"); });
  columns.Add(kCsv | kJson, {"type"}, [](const Line& line) {
    return Value::Text({&line.type, 1});
  });
  columns.Add(kJson, {"name"}, name);
  columns.Add(kCsv | kJson, {"delta"}, [](const Line& line) { return Value::Signed(line.value); });
  columns.Add(kCsv | kJson, {"missing_before"},
              [](const Line& line) { return Value::Integer(line.missing); });
  columns.Add(kCsv, {"name"}, name);
  return columns;
}

Quality TraceQuality(model::Source& source, const model::TraceUnit& unit) {
  const model::Names names(source.reader);
  return QualityOf(source, unit, names);
}

Head TraceHead(const model::Source& source, const model::TraceUnit& unit, size_t width) {
  Head head = RunHead(source, "log-gen");
  head.width = width;
  head.lines.push_back({"metric", fmt::format("{} in {}, {}", unit.info.name, unit.info.unit,
                                              unit.table != nullptr
                                                  ? "without the profiler's own cost; each line at "
                                                    "least what the transition really costs"
                                                  : "with the profiler's own cost")});
  return head;
}

void TextHead(const Head& head, const Quality& quality, Output& out) {
  PrintHead(head, quality, out);
  out.Text("\n");
}

void JsonHead(const model::Source& source, const model::TraceUnit& unit, JsonWriter& json) {
  JsonRun(source, "log-gen", json);
  json.Key("metrics");
  json.StartArray();
  json.StartObject();
  json.Member("name", unit.info.name);
  json.Member("unit", unit.info.unit);
  json.Member("calibrated", unit.table != nullptr);
  json.EndObject();
  json.EndArray();
}

// Reads the trace's events in order, each as a line. `print` returns false to stop.
Result<void> ReadLines(model::Source& source, const model::TraceUnit& unit, const Options& options,
                       const std::function<bool(const Line&)>& print) {
  model::Names names(source.reader);
  model::LineCorrector corrector(unit.table);
  return profile::ReadTrace(source.reader, [&](const profile::TraceEvent& event) {
    const profile::MethodId method = profile::MethodOf(event.ref);
    const double value =
        corrector.Value(event, model::KeyLetter(event.ref, names)) * unit.info.scale;
    return print(
        {model::Rounded(value), event.exit,
         Letter(profile::TypeOf(event.ref), options.static_letters && names.IsStatic(method)),
         options.for_people() ? names.In(options.names, method) : names.Of(method),
         source.reader.threads()[event.thread], event.missing});
  });
}

Result<void> PrintText(model::Source& source, const model::TraceUnit& unit, const Options& options,
                       Output& out) {
  const Head head = TraceHead(source, unit, options.width);
  const Quality before = TraceQuality(source, unit);
  TextHead(head, before, out);
  uint64_t events = 0;
  const auto read = ReadLines(source, unit, options, [&](const Line& line) {
    ++events;
    PrintTextLine(line, out);
    return out.ok();
  });
  if (!read) return read;
  out.Print("\n {} events\n", events);
  const Quality after = TraceQuality(source, unit);  // reading finds damages
  if (QualityText(after) != QualityText(before)) PrintQuality(head, after, out);
  return {};
}

}  // namespace

Result<void> PrintLogGen(model::Source& source, const Options& options, Output& out) {
  const model::TraceUnit unit = model::FirstMetric(source);
  if (options.format == Format::kText) return PrintText(source, unit, options, out);
  uint64_t events = 0;
  const Layout layout = {.head = {.json = [&](JsonWriter& json) { JsonHead(source, unit, json); }},
                         .tail = {.json =
                                      [&](JsonWriter& json) {
                                        JsonLosses(source, TraceQuality(source, unit), json);
                                        json.Member("event_count", events);
                                      }},
                         .rows = "events",
                         .end_line = true};
  const auto writer = EntryOf(options.format).make(layout, out);
  Columns<Line> columns = LogGenColumns(EntryOf(options.format).view);
  const auto read = ReadLines(source, unit, options, [&](const Line& line) {
    if (events++ == 0) writer->Begin(columns.columns());
    writer->Row(columns.Of(line));
    return out.ok();
  });
  if (!read) return read;
  if (events == 0) writer->Begin(columns.columns());
  writer->End();
  return {};
}

}  // namespace jprof::reports
