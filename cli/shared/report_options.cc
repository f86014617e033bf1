#include "cli/shared/report_options.h"

#include "cli/shared/usage_error.h"
#include "profile/read/combined.h"

namespace jprof::cli {

void AddTableOptions(CommandLine line, TableChoice& choice) {
  line.Flag("--uncalibrated", choice.uncalibrated, "Do not subtract the profiler's overhead");
  line.Option("--table", choice.file, "FILE", "Correct with this calibration table")
      .Excludes("--uncalibrated");
  line.Flag("--force", choice.force, "Use --table even if it was made for another machine or JVM")
      .Needs("--table");
}

Result<CountedAndSampled> OpenCountedAndSampled(const std::string& counted,
                                                const std::vector<std::string>& sampled,
                                                const TableChoice& choice) {
  if (sampled.empty()) {
    if (!profile::IsCombined(counted)) {
      return WrongUse(
          "{} is no combined profile: name the sampled profiles of the same program, or record one "
          "with jprof profile --counted callflow",
          counted);
    }
    auto combined = OpenCombined(counted, choice);
    if (!combined) return std::unexpected(combined.error());
    return CountedAndSampled{std::move(combined->counted), std::move(combined->sampled)};
  }
  Result<reports::Source> first = OpenSource(counted, choice);
  if (!first) return std::unexpected(first.error());
  CountedAndSampled opened = {.counted = *std::move(first)};
  for (const std::string& run : sampled) {
    Result<reports::Source> source = OpenSource(run, {});
    if (!source) return std::unexpected(source.error());
    opened.sampled.push_back(*std::move(source));
  }
  return opened;
}

}  // namespace jprof::cli
