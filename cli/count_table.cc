#include "cli/count_table.h"

#include <algorithm>

#include "profile/reader_text.h"

namespace jprof::cli {
namespace {

// One metric over another, where both are in the table.
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

using Line = std::vector<std::string>;

std::string CountText(const ptm::CheckedMetric& metric, double count) {
  if (count < 0) return "-";
  return metric.name == "time" ? fmt::format("{:.3f}", count / 1e6) : fmt::format("{:.0f}", count);
}

Line Titles(const CountTable& table, const std::vector<RatioColumn>& ratios) {
  Line line = table.by_name ? Line{"THREADS"} : Line{"PID", "TID"};
  for (const auto& metric : table.metrics) {
    line.push_back(metric.name == "time"         ? "TIME ms"
                   : metric.name == "dispatches" ? "DISP"
                                                 : metric.name);
  }
  for (const RatioColumn& ratio : ratios) line.emplace_back(ratio.title);
  line.emplace_back("NAME");
  return line;
}

Line Cells(const CountTable& table, const std::vector<RatioColumn>& ratios, const CountRow& row,
           Line first) {
  for (size_t i = 0; i < table.metrics.size(); ++i)
    first.push_back(CountText(table.metrics[i], row.counts[i]));
  for (const RatioColumn& ratio : ratios) {
    const auto value = ratio.Of(row);
    first.push_back(value ? fmt::format("{:.2f}", *value) : "-");
  }
  first.push_back(profile::CleanText(row.name));
  return first;
}

// Numbers to the right, the name behind them.
void PrintAligned(const std::vector<Line>& lines, reports::Output& out) {
  std::vector<size_t> widths(lines.front().size(), 0);
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const Line& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i)
      out.Print("{}{:>{}}", i == 0 ? "" : "  ", line[i], widths[i]);
    out.Print("  {}\n", line.back());
  }
}

void PrintText(const CountTable& table, reports::Output& out) {
  out.Print("{}: {:.3f} s", profile::CleanText(table.command), table.seconds);
  if (table.total.threads != 0)
    out.Print(", {} thread{}", table.total.threads, table.total.threads == 1 ? "" : "s");
  out.Text("\n\n");
  const auto ratios = RatiosOf(table);
  std::vector<Line> lines = {Titles(table, ratios)};
  const auto first = [&](const CountRow& row) {
    return table.by_name ? Line{std::to_string(row.threads)}
                         : Line{std::to_string(row.pid), std::to_string(row.tid)};
  };
  for (const CountRow& row : table.rows) lines.push_back(Cells(table, ratios, row, first(row)));
  const Line none = table.by_name ? Line{""} : Line{"", ""};
  if (!table.lost.empty()) {
    const CountRow lost = {.name = "(lost: of no known thread)", .counts = table.lost};
    lines.push_back(Cells(table, ratios, lost, none));
  }
  lines.push_back(Cells(table, ratios, table.total, none));
  PrintAligned(lines, out);
}

void JsonCounts(const CountTable& table, const std::vector<double>& counts, reports::Output& out) {
  out.Text("{");
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i > 0) out.Text(",");
    out.JsonString(table.metrics[i].name);
    out.Text(counts[i] < 0 ? ":null" : fmt::format(":{:.0f}", counts[i]));
  }
  out.Text("}");
}

void JsonRow(const CountTable& table, const std::vector<RatioColumn>& ratios, const CountRow& row,
             reports::Output& out) {
  if (table.by_name) {
    out.Print("{{\"threads\":{}", row.threads);
  } else {
    out.Print("{{\"pid\":{},\"tid\":{},\"ended\":{}", row.pid, row.tid, row.ended);
  }
  out.Text(",\"name\":");
  out.JsonString(row.name);
  out.Text(",\"counts\":");
  JsonCounts(table, row.counts, out);
  for (const RatioColumn& ratio : ratios) {
    out.Text(",");
    out.JsonString(ratio.title);
    const auto value = ratio.Of(row);
    out.Text(value ? fmt::format(":{:.6f}", *value) : ":null");
  }
  out.Text("}");
}

void JsonStrings(const std::vector<std::string>& strings, reports::Output& out) {
  for (size_t i = 0; i < strings.size(); ++i) {
    if (i > 0) out.Text(",");
    out.JsonString(strings[i]);
  }
}

void PrintJson(const CountTable& table, reports::Output& out) {
  const auto ratios = RatiosOf(table);
  out.Text("{\"command\":");
  out.JsonString(table.command);
  out.Print(",\"seconds\":{:.6f},\"rows\":[", table.seconds);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (i > 0) out.Text(",");
    JsonRow(table, ratios, table.rows[i], out);
  }
  out.Print("],\"threads\":{},\"total\":", table.total.threads);
  JsonCounts(table, table.total.counts, out);
  out.Text(",\"lost\":");
  JsonCounts(table, table.lost, out);
  out.Text(",\"notes\":[");
  JsonStrings(table.notes, out);
  out.Text("]}\n");
}

void PrintCsv(const CountTable& table, bool header, reports::Output& out) {
  const auto ratios = RatiosOf(table);
  if (header) {
    out.Text(table.by_name ? "threads,name" : "pid,tid,name");
    for (const auto& metric : table.metrics) {
      out.Text(",");
      out.CsvField(metric.name == "time" ? "time_ns" : metric.name);
    }
    for (const RatioColumn& ratio : ratios) out.Print(",{}", ratio.title);
    out.Text("\n");
  }
  for (const CountRow& row : table.rows) {
    out.Text(table.by_name ? fmt::format("{},", row.threads)
                           : fmt::format("{},{},", row.pid, row.tid));
    out.CsvField(row.name);
    for (const double count : row.counts) out.Text(count < 0 ? "," : fmt::format(",{:.0f}", count));
    for (const RatioColumn& ratio : ratios) {
      const auto value = ratio.Of(row);
      out.Text(value ? fmt::format(",{:.6f}", *value) : ",");
    }
    out.Text("\n");
  }
}

}  // namespace

void PrintCounts(const CountTable& table, reports::Format format, bool first,
                 reports::Output& out) {
  switch (format) {
    case reports::Format::kText:
      return PrintText(table, out);
    case reports::Format::kJson:
      return PrintJson(table, out);
    default:
      return PrintCsv(table, first, out);
  }
}

}  // namespace jprof::cli
