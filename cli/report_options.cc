#include "cli/report_options.h"

#include <filesystem>

#include "cli/usage_error.h"
#include "profile/combined.h"

namespace jprof::cli {

void AddTableOptions(CLI::App& command, TableChoice& choice) {
  auto* uncalibrated = command.add_flag("--uncalibrated", choice.uncalibrated,
                                        "Do not subtract the profiler's overhead");
  command.add_option("--table", choice.file, "Correct with this calibration table")
      ->excludes(uncalibrated);
  command.add_flag("--force", choice.force,
                   "Use --table even if it was made for another machine or JVM");
}

namespace {

struct Runs {
  std::string counted;
  std::vector<std::string> sampled;
};

// The profiles of a combined profile.
Result<Runs> RunsOf(const std::string& combined) {
  if (!profile::IsCombined(combined)) {
    return WrongUse(
        "{} is no combined profile: name the sampled profiles of the same program, or record one "
        "with jprof profile --counted callflow",
        combined);
  }
  const Result<profile::CombinedMeta> meta = profile::ReadCombined(combined);
  if (!meta) return std::unexpected(meta.error());
  Runs runs;
  for (const profile::Run& run : meta->runs) {
    const std::string place = (std::filesystem::path(combined) / run.profile).string();
    if (run.role == profile::Run::Role::kSampled)
      runs.sampled.push_back(place);
    else
      runs.counted = place;
  }
  if (!runs.counted.empty() && !runs.sampled.empty()) return runs;
  return WrongUse("{} needs a counted run and a sampled one, and has {} sampled and {}", combined,
                  runs.sampled.size(), runs.counted.empty() ? "none counted" : "one counted");
}

}  // namespace

Result<CountedAndSampled> OpenCountedAndSampled(const std::string& counted,
                                                const std::vector<std::string>& sampled,
                                                const TableChoice& choice) {
  Runs runs = {.counted = counted, .sampled = sampled};
  if (sampled.empty()) {
    Result<Runs> found = RunsOf(counted);
    if (!found) return std::unexpected(found.error());
    runs = *std::move(found);
  }
  Result<reports::Source> first = OpenSource(runs.counted, choice);
  if (!first) return std::unexpected(first.error());
  CountedAndSampled opened = {.counted = *std::move(first)};
  for (const std::string& run : runs.sampled) {
    Result<reports::Source> source = OpenSource(run, {});
    if (!source) return std::unexpected(source.error());
    opened.sampled.push_back(*std::move(source));
  }
  return opened;
}

}  // namespace jprof::cli
