#include "cli/shared/report_options.h"

#include "cli/shared/usage_error.h"

namespace jprof::cli {

void AddTableOptions(CommandLine line, TableChoice& choice) {
  line.Group("Calibration, for times of callflow");
  line.Flag("--uncalibrated", choice.uncalibrated, "Do not subtract the profiler's overhead");
  line.Option("--table", choice.file, "FILE", "Correct with this calibration table")
      .Excludes("--uncalibrated");
  line.Flag("--force", choice.force, "Use --table even if it was made for another machine or JVM")
      .Needs("--table");
  line.Group(CommandLine::kOptions);
}

Result<CountedAndSampled> OpenCountedAndSampled(const std::string& counted,
                                                const std::vector<std::string>& sampled,
                                                const TableChoice& choice) {
  if (sampled.empty()) {
    if (model::KindOf(counted) != model::InputKind::kCombined) {
      return WrongUse(
          "{} is no combined profile: name the sampled profiles of the same program, or record one "
          "with jprof profile --counted callflow",
          counted);
    }
    auto combined = OpenNamed(counted, choice);
    if (!combined) return std::unexpected(combined.error());
    auto& runs = std::get<model::Combined>(*combined);
    return CountedAndSampled{std::move(runs.counted), std::move(runs.sampled)};
  }
  Result<model::Source> first = OpenProfile(counted, choice);
  if (!first) return std::unexpected(first.error());
  CountedAndSampled opened = {.counted = *std::move(first)};
  for (const std::string& run : sampled) {
    Result<model::Source> source = OpenProfile(run, {});
    if (!source) return std::unexpected(source.error());
    opened.sampled.push_back(*std::move(source));
  }
  return opened;
}

}  // namespace jprof::cli
