// Prints the columns of each report as docs/REPORTS.md has them: for tests/docs_tables.py.
#include <fmt/format.h>

#include "reports/report_list.h"

namespace {

void Print(const auto& report) {
  fmt::print("| {} | meaning |\n|---|---|\n", report.name);
  for (const auto& [name, meaning] : report.columns) fmt::print("| {} | {} |\n", name, meaning);
  fmt::print("\n");
}

}  // namespace

int main() {
  for (const jprof::reports::Report& report : jprof::reports::Reports()) Print(report);
  Print(jprof::reports::kCombinedReport);
  Print(jprof::reports::kArcReport);
  Print(jprof::reports::kArcCalls);
}
