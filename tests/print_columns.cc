// Prints the options and the columns of each report as docs/REPORTS.md has them: for
// tests/docs_tables.py.
#include <fmt/format.h>

#include <ranges>
#include <string>

#include "common/frame_kind.h"
#include "reports/report_list.h"

namespace {

using jprof::reports::ColumnHelp;
using jprof::reports::Report;

std::string Quoted(std::string_view options) {
  std::string quoted;
  for (const auto option : std::views::split(options, ' '))
    quoted += fmt::format("{}`{}`", quoted.empty() ? "" : " ", std::string_view(option));
  return quoted;
}

void PrintOptions() {
  fmt::print("| report | options |\n|---|---|\n");
  for (const Report& report : jprof::reports::Reports()) {
    fmt::print("| {} | {} |\n", report.name, Quoted(report.options));
    if (!report.collapsed_options.empty()) {
      fmt::print("| {} `--format collapsed` | {} |\n", report.name,
                 Quoted(report.collapsed_options));
    }
  }
  fmt::print("\n");
}

void PrintColumns(std::string_view title, std::span<const ColumnHelp> columns) {
  if (columns.empty()) return;
  fmt::print("| {} | meaning |\n|---|---|\n", title);
  for (const auto& [name, meaning] : columns) fmt::print("| {} | {} |\n", name, meaning);
  fmt::print("\n");
}

void PrintFrameKinds() {
  fmt::print("| letter | frame |\n|---|---|\n");
  for (const auto& [kind, letter, meaning] : jprof::kFrameKinds)
    fmt::print("| {} | {} |\n", letter == '-' ? "`--`" : std::string(1, letter), meaning);
  fmt::print("\n");
}

}  // namespace

int main() {
  PrintOptions();
  PrintFrameKinds();
  for (const Report& report : jprof::reports::Reports()) PrintColumns(report.name, report.columns);
  for (const Report& report : jprof::reports::Reports())
    PrintColumns(std::string(report.name) + ": calls", report.more_columns);
}
