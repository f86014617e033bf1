#include "reports/itrace/arc.h"

#include <algorithm>

#include "common/shell_word.h"
#include "model/values/statistics.h"
#include "reports/itrace/arc_table.h"

namespace jprof::reports {
namespace {

// A row as the columns' getters see it. `text` lives until the row is written.
struct ArcLine {
  const ArcTable& table;
  const ArcRow& row;
  std::string& text;

  Value Percent(uint64_t instructions) const {
    return Value::Fixed(model::PercentOf(instructions, table.trace.instructions), 2);
  }
  Value PerCall() const {
    if (row.sums.outermost_calls == 0) return Value::Missing();
    return Value::Fixed(
        static_cast<double>(row.sums.cumulative) / static_cast<double>(row.sums.outermost_calls),
        1);
  }
};

using ArcColumns = Columns<ArcLine>;

void AddSelf(ArcColumns& columns) {
  columns.Add(kPeople, {"SELF", 14},
              [](const ArcLine& line) { return Value::Integer(line.row.sums.self); });
  columns.Add(kPeople, {"SELF%", 6},
              [](const ArcLine& line) { return line.Percent(line.row.sums.self); });
}

void AddSums(ArcColumns& columns) {
  columns.Add(kPeople, {"CUM", 14},
              [](const ArcLine& line) { return Value::Integer(line.row.sums.cumulative); });
  columns.Add(kPeople, {"CUM%", 6},
              [](const ArcLine& line) { return line.Percent(line.row.sums.cumulative); });
  columns.Add(kPeople, {"CALLS", 11},
              [](const ArcLine& line) { return Value::Integer(line.row.sums.calls); });
  columns.Add(kPeople, {"CUM/CALL", 12}, [](const ArcLine& line) { return line.PerCall(); });
}

Value CallerOf(const ArcLine& line) {
  if (!line.row.caller) return Value::Missing();
  return Value::Text(line.table.function(*line.row.caller).name);
}

// Adds the columns of CSV, which has one table, and of JSON.
void AddFields(ArcColumns& columns, unsigned views) {
  columns.Add(kCsv, {"caller"}, CallerOf);
  columns.Add(views, {"type"}, [](const ArcLine& line) {
    return Value::Text({&line.table.function(line.row.function).letter, 1});
  });
  columns.Add(views, {"function"}, [](const ArcLine& line) {
    return Value::Text(line.table.function(line.row.function).name);
  });
  columns.Add(views, {"module"}, [](const ArcLine& line) {
    return Value::Text(line.table.function(line.row.function).module);
  });
  columns.Add(views, {"calls"},
              [](const ArcLine& line) { return Value::Integer(line.row.sums.calls); });
  columns.Add(views, {"outermost_calls"},
              [](const ArcLine& line) { return Value::Integer(line.row.sums.outermost_calls); });
  const auto of_function = [&](const char* name, uint64_t model::FunctionSums::*member) {
    columns.Add(views, {name}, [member](const ArcLine& line) {
      return line.row.caller ? Value::Missing() : Value::Integer(line.row.sums.*member);
    });
  };
  of_function("self", &model::FunctionSums::self);
  columns.Add(views, {"cumulative"},
              [](const ArcLine& line) { return Value::Integer(line.row.sums.cumulative); });
  of_function("system_calls", &model::FunctionSums::system_calls);
  of_function("repeats", &model::FunctionSums::repeats);
}

ArcColumns FunctionColumns(View view) {
  ArcColumns columns(view);
  AddSelf(columns);
  AddSums(columns);
  columns.Add(kPeople, {"FUNCTION"}, [](const ArcLine& line) {
    line.text = line.table.function(line.row.function).Marked(line.table.options.names);
    return Value::Text(line.text);
  });
  AddFields(columns, kCsv | kJson);
  return columns;
}

ArcColumns CallColumns(View view) {
  ArcColumns columns(view);
  AddSums(columns);
  columns.Add(kPeople, {"CALLER -> CALLEE"}, [](const ArcLine& line) {
    const model::NameForm form = line.table.options.names;
    line.text = fmt::format("{} -> {}", line.table.function(*line.row.caller).Marked(form),
                            line.table.function(line.row.function).Marked(form));
    return Value::Text(line.text);
  });
  return columns;
}

void JsonCalls(const ArcTable& table, JsonWriter& json) {
  json.Key("arcs");
  json.StartArray();
  for (const ArcRow& row : table.calls) {
    json.StartRow();
    json.Member("caller", table.function(*row.caller).name);
    json.Member("callee", table.function(row.function).name);
    json.Member("calls", row.sums.calls);
    json.Member("outermost_calls", row.sums.outermost_calls);
    json.Member("instructions", row.sums.cumulative);
    json.EndObject();
  }
  json.EndArray();
}

void WriteRows(const ArcTable& table, const std::vector<ArcRow>& rows, ArcColumns& columns,
               TableWriter& writer) {
  std::string text;
  for (const ArcRow& row : rows) writer.Row(columns.Of({table, row, text}));
}

void PrintCalls(const ArcTable& table, Output& out) {
  const FormatEntry& format = EntryOf(table.options.format);
  out.Text("\n");
  const Layout layout = {
      .tail = {.text = [&](Output& text) { text.Text(MoreText(table.more_calls, "call")); }},
      .width = table.options.width};
  const auto writer = format.make(layout, out);
  ArcColumns columns = CallColumns(format.view);
  writer->Begin(columns.columns());
  WriteRows(table, table.calls, columns, *writer);
  writer->End();
}

void PrintTables(const ArcTable& table, Output& out) {
  const FormatEntry& format = EntryOf(table.options.format);
  const Layout layout = {
      .head = {.text = [&](Output& text) { PrintArcHead(table, text); },
               .json = [&](JsonWriter& json) { JsonArcHead(table, json); }},
      .tail = {.text = [&](Output& text) { text.Text(MoreText(table.more_functions, "function")); },
               .json = [&](JsonWriter& json) { JsonCalls(table, json); }},
      .rows = "functions",
      .width = table.options.width,
      .legend = table.options.legend};
  const auto writer = format.make(layout, out);
  ArcColumns columns = FunctionColumns(format.view);
  writer->Begin(columns.columns());
  WriteRows(table, table.functions, columns, *writer);
  if (format.view == kCsv) WriteRows(table, table.calls, columns, *writer);
  writer->End();
  if (format.view == kPeople) PrintCalls(table, out);
}

void RemarkNotes(const ArcTable& table, Output& out) {
  const model::ArcNotes notes = model::NotesOf(table.arcs, table.trace);
  for (const std::string& loss : notes.losses) out.Remark("lost: " + loss);
  for (const std::string& note : notes.notes) out.Remark(note);
}

Result<void> CheckArcOptions(const ArcTable& table) {
  const Options& options = table.options;
  if (options.tid && table.trace.threads.empty()) {
    return WrongUse("{} has no thread {}: jprof report arc {} --format json lists them",
                    table.arcs.directory, *options.tid, ShellWord(table.arcs.directory));
  }
  if (!options.function.empty() && table.functions.empty()) {
    return WrongUse(
        "no function whose name contains '{}' was executed; jprof report arc {} lists them",
        options.function, ShellWord(table.arcs.directory));
  }
  return {};
}

}  // namespace

Result<void> PrintArc(model::ArcRecording& arcs, const Options& options, Output& out) {
  if (auto offered = CheckOffered("arc", kTreeFormats, options.format); !offered) return offered;
  if (options.listing && options.percent() > 0)
    return WrongUse("--listing has no --min-percent: --top N chooses the hottest functions");
  if (options.listing) return PrintArcListing(arcs, options, out);
  const ArcTable table = MakeArcTable(arcs, options);
  if (auto checked = CheckArcOptions(table); !checked) return checked;
  if (options.format == Format::kCollapsed) {
    PrintArcStacks(arcs, table.trace, options.merged, out);
  } else {
    PrintTables(table, out);
  }
  if (!EntryOf(options.format).head) RemarkNotes(table, out);
  return {};
}

}  // namespace jprof::reports
