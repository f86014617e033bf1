// methods: the call tree summed by method (docs/REPORTS.md).
#include <algorithm>

#include "reports/flat.h"
#include "reports/header.h"
#include "reports/report_list.h"

namespace jprof::reports {
namespace {

char Type(const Forest& forest, const Options& options, const MethodSum& sum) {
  return forest.names.LetterOf(sum.method, sum.type, options.static_letters);
}

// Samples alone know nothing of calls.
bool HasCalls(const Forest& forest) { return forest.calls > 0 || forest.samples == 0; }

std::string_view Name(Forest& forest, const MethodSum& sum) {
  return sum.method == profile::kRootMethod ? "(outside any method)" : forest.names.Of(sum.method);
}

double Share(double part, double whole) {
  return whole > 0 ? std::max(0.0, 100 * part / whole) : 0;
}

// What shares are taken of: BASE of the first metric, or calls.
double Whole(const Forest& forest) {
  return forest.columns.empty() ? static_cast<double>(forest.calls)
                                : forest.columns[0].raw - forest.columns[0].adjust;
}
double Self(const Forest& forest, const MethodSum& sum) {
  return forest.columns.empty() ? static_cast<double>(sum.calls) : sum.self[0].base();
}

void PrintText(const Source& source, Forest& forest, const std::vector<MethodSum>& sums,
               const Options& options, Output& out) {
  PrintRun(source, "methods", out);
  PrintMetrics(source, forest, out);
  PrintStacks(source, out);
  PrintLosses(source, out);
  out.Print(
      " legend    {} the metric in the method itself, CUM with all it called (recursion counted "
      "once), CTX calling\n"
      "           sequences it was seen in; shares are of BASE of the first metric (of CALLS if "
      "there is none)\n\n",
      HasCalls(forest) ? "BASE" : "SAMPLES");
  std::string heading = fmt::format("{:>6} {:>6}", "SELF%", "CUM%");
  if (HasCalls(forest)) heading += fmt::format(" {:>12}", "CALLS");
  heading += fmt::format(" {:>8}", "CTX");
  for (size_t m = 0; m < forest.columns.size(); ++m) {
    const std::string suffix = m == 0 ? "" : "-" + std::to_string(m);
    if (options.raw) heading += fmt::format(" {:>15} {:>15}", "RAW" + suffix, "ADJUST" + suffix);
    heading +=
        fmt::format(" {:>15}", (forest.columns[m].info.is_samples() ? "SAMPLES" : "BASE") + suffix);
    if (options.raw) heading += fmt::format(" {:>15}", "ERROR" + suffix);
    heading += fmt::format(" {:>15}", "CUM" + suffix);
  }
  out.Bold(heading + " NAME\n");
  const double whole = Whole(forest);
  for (const MethodSum& sum : sums) {
    const double share = Share(Self(forest, sum), whole);
    const double cumulative = Share(sum.cumulative[0], whole);
    if (std::max(share, cumulative) < options.min_percent) continue;
    out.Print("{:6.2f} {:6.2f}", share, cumulative);
    if (HasCalls(forest)) out.Print(" {:12}", sum.calls);
    out.Print(" {:8}", sum.contexts);
    for (size_t m = 0; m < forest.columns.size(); ++m) {
      const double scale = forest.columns[m].info.scale;
      const Cell& cell = sum.self[m];
      if (options.raw)
        out.Print(" {:15} {:15}", Rounded(static_cast<double>(cell.raw) * scale),
                  Rounded(cell.adjust * scale));
      out.Print(" {:15}", Rounded(std::max(0.0, cell.base() * scale)));
      if (options.raw) out.Print(" {:15}", Rounded(cell.error * scale));
      out.Print(" {:15}", Rounded(std::max(0.0, sum.cumulative[m] * scale)));
    }
    out.Print(" {}{}\n", forest.names.Mark(sum.method, sum.type, options.static_letters),
              Name(forest, sum));
  }
}

void PrintJson(const Source& source, Forest& forest, const std::vector<MethodSum>& sums,
               const Options& options, Output& out) {
  out.Text("{");
  JsonMetrics(forest, out);
  JsonLosses(source, out);
  out.Text(",");
  JsonRun(source, "methods", out);
  out.Text(",\"methods\":[");
  const char* comma = "\n";
  for (const MethodSum& sum : sums) {
    out.Print("{}{{\"type\":\"{}\",\"name\":", comma, Type(forest, options, sum));
    out.JsonString(Name(forest, sum));
    if (HasCalls(forest)) out.Print(",\"calls\":{}", sum.calls);
    out.Print(",\"contexts\":{},\"base\":", sum.contexts);
    JsonArray(out, forest.columns, [&](size_t m) { return sum.self[m].base(); });
    out.Text(",\"raw\":");
    JsonArray(out, forest.columns, [&](size_t m) { return static_cast<double>(sum.self[m].raw); });
    out.Text(",\"error\":");
    JsonArray(out, forest.columns, [&](size_t m) { return double{sum.self[m].error}; });
    out.Text(",\"cumulative\":");
    JsonArray(out, forest.columns, [&](size_t m) { return sum.cumulative[m]; });
    out.Text("}");
    comma = ",\n";
  }
  out.Text("]}\n");
}

void PrintCsv(Forest& forest, const std::vector<MethodSum>& sums, const Options& options,
              Output& out) {
  out.Text(HasCalls(forest) ? "type,calls,contexts" : "type,contexts");
  for (const Column& column : forest.columns) {
    for (const char* what : {"base", "raw", "adjust", "error", "cumulative"}) {
      out.Text(",");
      out.CsvField(fmt::format("{}:{}", what, column.info.name));
    }
  }
  out.Text(",name\n");
  for (const MethodSum& sum : sums) {
    out.Print("{},", Type(forest, options, sum));
    if (HasCalls(forest)) out.Print("{},", sum.calls);
    out.Integer(sum.contexts);
    for (size_t m = 0; m < forest.columns.size(); ++m) {
      const Cell& cell = sum.self[m];
      for (const double raw : {cell.base(), static_cast<double>(cell.raw), cell.adjust,
                               double{cell.error}, sum.cumulative[m]}) {
        out.Text(",");
        out.Number(raw * forest.columns[m].info.scale);
      }
    }
    out.Text(",");
    out.CsvField(Name(forest, sum));
    out.Text("\n");
  }
}

}  // namespace

Result<void> PrintMethods(Source& source, const Options& options, Output& out) {
  Result<Forest> forest = LoadForest(source, options);
  if (!forest) return std::unexpected(forest.error());
  const std::vector<MethodSum> sums = SumByMethod(*forest, /*with_cumulative=*/true);
  switch (options.format) {
    case Format::kText:
      PrintText(source, *forest, sums, options, out);
      break;
    case Format::kJson:
      PrintJson(source, *forest, sums, options, out);
      break;
    case Format::kCsv:
      PrintCsv(*forest, sums, options, out);
      break;
    case Format::kCollapsed:
      return WrongUse("methods has no stacks to collapse: use log-rt or scs");
  }
  return {};
}

}  // namespace jprof::reports
