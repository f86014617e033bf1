// The reports there are. Adding one is a line in report_list.cc and a file beside it.
#pragma once

#include <span>

#include "reports/output.h"
#include "reports/source.h"

namespace jprof::reports {

struct Report {
  const char* name;
  const char* help;  // one line
  std::span<const Format> formats;
  Result<void> (*print)(Source& source, const Options& options, Output& out);
};

std::span<const Report> Reports();

// Error: as the report's, or it does not offer the format.
Result<void> PrintReport(const Report& report, Source& source, const Options& options, Output& out);

Result<void> PrintLogRt(Source& source, const Options& options, Output& out);
Result<void> PrintMethods(Source& source, const Options& options, Output& out);
Result<void> PrintScs(Source& source, const Options& options, Output& out);
Result<void> PrintLogGen(Source& source, const Options& options, Output& out);

}  // namespace jprof::reports
