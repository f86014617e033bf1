// The list of reports. A new report is an entry in report_list.cc and a file beside it.
#pragma once

#include <span>

#include "reports/output.h"
#include "reports/source.h"

namespace jprof::reports {

struct ColumnHelp {
  std::string_view name;
  std::string_view meaning;  // in Markdown: docs/REPORTS.md is generated from it
};

struct Report {
  const char* name;
  const char* help;  // one line
  std::span<const Format> formats;
  std::span<const ColumnHelp> columns;  // of text; where text is not a table, of CSV
  Result<void> (*print)(Source& source, const Options& options, Output& out);
};

std::span<const Report> Reports();

// A table of something other than one profile.
struct OtherReport {
  const char* name;
  const char* help;
  std::span<const ColumnHelp> columns;
};
extern const OtherReport kCombinedReport;  // of a combined profile: PrintCombined prints it
extern const OtherReport kArcReport;       // of an instruction trace: PrintArc; its functions
extern const OtherReport kArcCalls;        // its second table

// Error: the report does not offer the format, or the report's own error.
Result<void> PrintReport(const Report& report, Source& source, const Options& options, Output& out);

Result<void> PrintLogRt(Source& source, const Options& options, Output& out);
Result<void> PrintMethods(Source& source, const Options& options, Output& out);
Result<void> PrintScs(Source& source, const Options& options, Output& out);
Result<void> PrintLogGen(Source& source, const Options& options, Output& out);

}  // namespace jprof::reports
