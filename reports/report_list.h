// Lists the reports. A new report is an entry in report_list.cc and a file beside it.
#pragma once

#include <span>

#include "reports/print/output.h"
#include "reports/tree/source.h"

namespace jprof::reports {

struct ColumnHelp {
  std::string_view name;
  std::string_view meaning;  // in Markdown; docs/REPORTS.md is generated from it
};

struct ReportEntry {
  const char* name;
  const char* help;                    // one line
  std::string_view options;            // of the command line, as "--format --sort"
  std::string_view collapsed_options;  // the same with --format collapsed
  std::span<const Format> formats;
  std::span<const ColumnHelp> columns;  // of text or, where that is no table, of CSV

  bool HasOption(std::string_view option, Format format) const;
};

// A report of one profile.
struct Report : ReportEntry {
  Result<void> (*print)(Source& source, const Options& options, Output& out);
};

std::span<const Report> Reports();

extern const ReportEntry kCombinedReport;  // of a combined profile; PrintCombined prints it
extern const ReportEntry kArcReport;       // of an instruction trace: its functions, by PrintArc
extern const ReportEntry kArcCalls;        // its second table
extern const ReportEntry kTprofReport;     // of a recording of ticks; PrintTprof prints it
extern const ReportEntry kHtmlReport;      // the view, of all of these

// Returns every report, in the order of the command's help.
std::span<const ReportEntry* const> AllReports();

// Fails if the report does not offer the format, or with the report's own error.
Result<void> PrintReport(const Report& report, Source& source, const Options& options, Output& out);

Result<void> PrintLogRt(Source& source, const Options& options, Output& out);
Result<void> PrintMethods(Source& source, const Options& options, Output& out);
Result<void> PrintScs(Source& source, const Options& options, Output& out);
Result<void> PrintLogGen(Source& source, const Options& options, Output& out);

}  // namespace jprof::reports
