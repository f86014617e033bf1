// Lists the reports. A new report is an entry in report_list.cc and a file beside it.
#pragma once

#include <span>

#include "model/open/open.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

struct Report {
  const char* name;
  const char* help;                    // one line
  std::string_view options;            // of the command line, as "--format --sort"
  std::string_view collapsed_options;  // the same with --format collapsed
  std::span<const Format> formats;
  std::span<const ColumnHelp> columns;      // of text or, where that is no table, of CSV
  std::span<const model::InputKind> kinds;  // what it prints, in the order of preference
  // Requires an input of one of the kinds. Null for `html`, which PrintView prints.
  Result<void> (*print)(model::Input& input, const Options& options, Output& out);
  // Prints the HTML page of an input. Null if the report is no kind's default.
  Result<void> (*page)(model::Input& input, Output& out) = nullptr;
  std::span<const ColumnHelp> more_columns = {};  // of a second table
  bool is_of_method = false;                      // its first argument may be the name of a method

  bool HasOption(std::string_view option, Format format) const;
  bool Prints(model::InputKind kind) const;
};

// Returns every report, in the order of the command's help.
std::span<const Report> Reports();

// Returns the report that prints this input if none is named.
const Report& DefaultReport(const model::Input& input);
// Returns the same for a directory of this kind; a profile of samples has another one.
const Report& DefaultReport(model::InputKind kind);

// Prints the report of an input of a kind that it prints. Fails if it does not offer the format, or
// with the report's own error.
Result<void> PrintReport(const Report& report, model::Input& input, const Options& options,
                         Output& out);

// Prints the HTML page of what was opened (docs/VIEW.md). Fails if it cannot be read or has nothing
// to show.
Result<void> PrintView(model::Input& input, Output& out);

Result<void> PrintLogRt(model::Source& source, const Options& options, Output& out);
Result<void> PrintMethods(model::Source& source, const Options& options, Output& out);
Result<void> PrintLabels(model::Source& source, const Options& options, Output& out);
Result<void> PrintScs(model::Source& source, const Options& options, Output& out);
Result<void> PrintRemoved(model::Source& source, const Options& options, Output& out);
Result<void> PrintObjects(model::Source& source, const Options& options, Output& out);
Result<void> PrintGrowth(model::Source& source, const Options& options, Output& out);
Result<void> PrintDistribution(model::Source& source, const Options& options, Output& out);
Result<void> PrintSeries(model::Source& source, const Options& options, Output& out);
Result<void> PrintSlow(model::Source& source, const Options& options, Output& out);
Result<void> PrintLogGen(model::Source& source, const Options& options, Output& out);

}  // namespace jprof::reports
