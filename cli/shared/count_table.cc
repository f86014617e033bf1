#include "cli/shared/count_table.h"

#include <algorithm>

#include "profile/files/printable_text.h"
#include "reports/print/columns.h"
#include "reports/print/formats.h"

namespace jprof::cli {
namespace {

// The ratio of two metrics, which is printed if both are in the table.
struct Ratio {
  const char* title;
  double scale;
  std::vector<std::string_view> over, under;
};

const std::vector<Ratio>& KnownRatios() {
  static const std::vector<Ratio> ratios = {
      {"CPI", 1, {"PAPI_TOT_CYC", "CYCLES", "CPU-CYCLES"}, {"PAPI_TOT_INS", "INSTRUCTIONS"}},
      {"L1D miss%",
       100,
       {"PAPI_L1_DCM", "L1-DCACHE-LOAD-MISSES"},
       {"PAPI_L1_DCA", "L1-DCACHE-LOADS"}},
      {"LLC miss%", 100, {"PAPI_L3_TCM", "CACHE-MISSES"}, {"PAPI_L3_TCA", "CACHE-REFERENCES"}},
      {"branch miss%",
       100,
       {"PAPI_BR_MSP", "BRANCH-MISSES"},
       {"PAPI_BR_INS", "PAPI_BR_CN", "BRANCH-INSTRUCTIONS", "BRANCHES"}},
  };
  return ratios;
}

struct RatioColumn {
  const char* title;
  double scale;
  size_t over, under;

  std::optional<double> Of(const CountRow& row) const {
    if (row.counts[under] <= 0 || row.counts[over] < 0) return std::nullopt;
    return scale * row.counts[over] / row.counts[under];
  }
};

std::vector<RatioColumn> RatiosOf(const CountTable& table) {
  std::vector<RatioColumn> columns;
  for (const Ratio& ratio : KnownRatios()) {
    const auto over = FindMetric(table, ratio.over), under = FindMetric(table, ratio.under);
    if (over && under) columns.push_back({ratio.title, ratio.scale, *over, *under});
  }
  return columns;
}

// A row as the columns' getters see it.
struct TableRow {
  const CountRow& row;
  bool is_thread = true;  // false for a sum, without process and thread ids
  std::string name = profile::CleanText(row.name);
};
using CountColumns = reports::Columns<TableRow>;
using reports::Value;

Value IdOf(const TableRow& row, uint64_t id) {
  return row.is_thread ? Value::Integer(id) : Value::Text("");
}

Value CountOf(double count) { return count < 0 ? Value::Missing() : Value::Fixed(count, 0); }

Value RatioOf(const RatioColumn& ratio, const CountRow& row, uint8_t digits) {
  const auto value = ratio.Of(row);
  return value ? Value::Fixed(*value, digits) : Value::Missing();
}

void AddIdentity(const CountTable& table, CountColumns& columns) {
  using namespace reports;
  if (table.by_name) {
    const auto threads = [](const TableRow& row) { return IdOf(row, row.row.threads); };
    columns.Add(kPeople, {"THREADS"}, threads);
    columns.Add(kCsv | kJson, {"threads"}, threads);
  } else {
    const auto pid = [](const TableRow& row) { return IdOf(row, row.row.pid); };
    const auto tid = [](const TableRow& row) { return IdOf(row, row.row.tid); };
    columns.Add(kPeople, {"PID"}, pid);
    columns.Add(kPeople, {"TID"}, tid);
    columns.Add(kCsv | kJson, {"pid"}, pid);
    columns.Add(kCsv | kJson, {"tid"}, tid);
    columns.Add(kJson, {"ended"}, [](const TableRow& row) { return Value::Bool(row.row.ended); });
  }
  columns.Add(kCsv | kJson, {"name"},
              [](const TableRow& row) { return Value::Text(row.row.name); });
}

void AddCounts(const CountTable& table, CountColumns& columns) {
  using namespace reports;
  std::vector<std::string> names;
  for (size_t i = 0; i < table.metrics.size(); ++i) {
    const std::string& name = table.metrics[i].name;
    names.push_back(name);
    const bool time = name == "time";
    const std::string title = time                          ? "TIME ms"
                              : name == "dispatches"        ? "DISP"
                              : name == record::kInterrupts ? "INTR"
                                                            : name;
    columns.Add(kPeople, {title}, [i, time](const TableRow& row) {
      const double count = row.row.counts[i];
      return time && count >= 0 ? Value::Fixed(count / 1e6, 3) : CountOf(count);
    });
    columns.Add(kCsv, {time ? "time_ns" : name},
                [i](const TableRow& row) { return CountOf(row.row.counts[i]); });
  }
  columns.Add(kJson,
              {.name = "counts", .shape = Column::Shape::kObject, .members = std::move(names)},
              [](const TableRow& row, size_t i) { return CountOf(row.row.counts[i]); });
}

CountColumns CountColumnsOf(const CountTable& table, reports::View view) {
  using namespace reports;
  CountColumns columns(view);
  AddIdentity(table, columns);
  AddCounts(table, columns);
  for (const RatioColumn& ratio : RatiosOf(table)) {
    columns.Add(kPeople, {ratio.title},
                [ratio](const TableRow& row) { return RatioOf(ratio, row.row, 2); });
    columns.Add(kCsv | kJson, {ratio.title},
                [ratio](const TableRow& row) { return RatioOf(ratio, row.row, 6); });
  }
  columns.Add(kPeople, {"NAME"}, [](const TableRow& row) { return Value::Text(row.name); });
  return columns;
}

// Makes each column as wide as its widest value. The last one, the name, is not aligned.
void SetWidths(CountColumns& columns, const std::vector<TableRow>& rows) {
  columns.FitWidths(rows);
  columns.columns().back().width = 0;
}

void TextHead(const CountTable& table, reports::Output& out) {
  out.Print("{}: {:.3f} s", profile::CleanText(table.command), table.seconds);
  if (table.total.threads != 0)
    out.Print(", {} thread{}", table.total.threads, table.total.threads == 1 ? "" : "s");
  out.Text("\n\n");
}

void JsonCounts(const CountTable& table, std::string_view key, const std::vector<double>& counts,
                reports::JsonWriter& json) {
  json.Key(key);
  json.StartObject();
  for (size_t i = 0; i < counts.size(); ++i) {
    json.Key(table.metrics[i].name);
    if (counts[i] < 0) {
      json.Null();
    } else {
      json.Fixed(counts[i], 0);
    }
  }
  json.EndObject();
}

reports::Layout LayoutOf(const CountTable& table, bool first) {
  return {.head = {.text = [&table](reports::Output& out) { TextHead(table, out); },
                   .json =
                       [&table](reports::JsonWriter& json) {
                         json.Member("command", table.command);
                         json.FixedMember("seconds", table.seconds, 6);
                       }},
          .tail = {.json =
                       [&table](reports::JsonWriter& json) {
                         json.Member("threads", table.total.threads);
                         JsonCounts(table, "total", table.total.counts, json);
                         JsonCounts(table, "lost", table.lost, json);
                         json.StringsMember("notes", table.notes);
                       }},
          .lines = false,
          .heading = first,
          .gap = 2};
}

}  // namespace

void PrintCounts(const CountTable& table, reports::Format format, bool first,
                 reports::Output& out) {
  const reports::View view = reports::EntryOf(format).view;
  const CountRow lost = {.name = "(lost: unknown thread)", .counts = table.lost};
  std::vector<TableRow> rows;
  for (const CountRow& row : table.rows) rows.push_back({row});
  if (view == reports::kPeople) {
    if (!table.lost.empty()) rows.push_back({lost, false});
    rows.push_back({table.total, false});
  }
  CountColumns columns = CountColumnsOf(table, view);
  if (view == reports::kPeople) SetWidths(columns, rows);
  const reports::Layout layout = LayoutOf(table, first);
  const auto writer = reports::EntryOf(format).make(layout, out);
  writer->Begin(columns.columns());
  for (const TableRow& row : rows) writer->Row(columns.Of(row));
  writer->End();
}

}  // namespace jprof::cli
