#include "cli/combined_output.h"

#include <fmt/format.h>
#include <time.h>

#include "cli/usage_error.h"
#include "profile/whole_file.h"
#include "record/recording_summary.h"

namespace jprof::cli {

std::string UtcNow() {
  const time_t now = time(nullptr);
  tm utc = {};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

Result<void> WriteRuns(const std::filesystem::path& directory, const profile::CombinedMeta& meta) {
  return profile::WriteWholeFile(directory / profile::kRunsFile, profile::ToJson(meta));
}

Result<void> PrintCombinedReport(const std::filesystem::path& directory) {
  PrintError(fmt::format("report: jprof report combined {}", record::DisplayPath(directory)));
  return {};
}

}  // namespace jprof::cli
