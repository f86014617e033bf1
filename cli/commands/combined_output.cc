#include "cli/commands/combined_output.h"

#include <fmt/format.h>

#include "cli/shared/profile_source.h"
#include "cli/shared/usage_error.h"
#include "record/place/recording_summary.h"
#include "reports/combined/combined_report.h"

namespace jprof::cli {

Result<void> PrintCombinedReport(const std::filesystem::path& directory, std::FILE* to) {
  auto combined = model::OpenCombined(directory.string(), {});
  if (!combined) return std::unexpected(combined.error());
  std::fflush(stdout);
  reports::Output out(to, reports::ShowsColour(to));
  if (auto printed = reports::PrintCombined(*combined, {}, out); !printed) return printed;
  if (auto finished = out.Finish(); !finished) return finished;
  PrintError(fmt::format("all contexts: jprof report combined {}", record::DisplayPath(directory)));
  return {};
}

}  // namespace jprof::cli
