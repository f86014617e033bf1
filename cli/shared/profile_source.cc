#include "cli/shared/profile_source.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "calibrate/train/table_store.h"
#include "common/nearest.h"
#include "common/shell_word.h"
#include "profile/files/printable_text.h"
#include "record/place/jvm_profiles.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

// Suggests the nearest *.jprof in the same folder for a name that does not exist.
std::string DidYouMean(const fs::path& directory) {
  std::error_code error;
  std::vector<std::string> names;
  const fs::path parent = directory.has_parent_path() ? directory.parent_path() : ".";
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    if (entry.path().extension() == ".jprof") names.push_back(entry.path().filename().string());
  }
  const std::vector<std::string_view> choices(names.begin(), names.end());
  const auto nearest = Nearest(directory.filename().string(), choices);
  return nearest ? fmt::format("; did you mean '{}'?",
                               (parent == "." ? fs::path(*nearest) : parent / *nearest).string())
                 : "";
}

void UseTable(reports::Source& source, calibrate::Table table, std::string from) {
  for (calibrate::Metric& metric : table.metrics) {
    if (metric.bias != 0)
      metric = Rebased(std::move(metric), source.reader.meta().clock.bracket_bias());
  }
  source.table = std::move(table);
  source.table_from = profile::CleanText(from);
}

// Uses --table FILE, which must fit unless --force is given.
Result<void> UseNamedTable(reports::Source& source, const TableChoice& choice) {
  Result<calibrate::StoredTable> stored = calibrate::LoadTable(choice.file);
  if (!stored) return std::unexpected(Error{stored.error().message, Error::Kind::kWrongUse});
  const auto differences =
      calibrate::Differences(stored->table.fingerprint, source.reader.meta().fingerprint);
  if (!differences.empty() && !choice.force) {
    return WrongUse(
        "{}: does not fit this profile: {}; make one "
        "that fits with jprof calibrate, or use --force",
        choice.file, fmt::join(differences, "; "));
  }
  UseTable(
      source, std::move(stored->table),
      choice.file + (differences.empty()
                         ? ""
                         : " BY FORCE (" + fmt::format("{}", fmt::join(differences, "; ")) + ")"));
  return {};
}

// Uses the profile's own table, else the user's table that fits. Without one the report states that
// it is not calibrated.
Result<void> FindTable(reports::Source& source, const TableChoice& choice) {
  if (choice.uncalibrated) {
    source.uncalibrated = "requested by --uncalibrated";
    return {};
  }
  if (!choice.file.empty()) return UseNamedTable(source, choice);
  const auto& metrics = source.reader.meta().metrics;
  if (std::ranges::all_of(metrics, &profile::Metric::is_samples)) return {};  // nothing to correct
  const calibrate::Fingerprint& fingerprint = source.reader.meta().fingerprint;
  const std::string own = source.reader.ReadCalibration();
  if (!own.empty()) {
    Result<calibrate::Table> table = calibrate::FromJson(own);
    if (table && calibrate::Differences(table->fingerprint, fingerprint).empty()) {
      UseTable(source, std::move(*table),
               std::string("the profile's ") + profile::kCalibrationFile);
      return {};
    }
    source.reader.damages().Add(fmt::format(
        "{}: {}", profile::kCalibrationFile,
        table
            ? fmt::format("does not fit: {}",
                          fmt::join(calibrate::Differences(table->fingerprint, fingerprint), "; "))
            : table.error().message));
  }
  Result<calibrate::StoredTable> stored = calibrate::FindTable(fingerprint);
  if (stored) {
    UseTable(source, std::move(stored->table), stored->path.string());
  } else {
    source.uncalibrated = stored.error().message;
  }
  return {};
}

}  // namespace

std::string FindNewestProfile(bool combined) {
  std::error_code error;
  std::string newest;
  fs::file_time_type time;
  for (const fs::directory_entry& entry : fs::directory_iterator(".", error)) {
    const bool is_profile = !record::ProfilesAt(entry.path()).empty() ||
                            (combined && profile::IsCombined(entry.path()));
    if (entry.path().extension() != ".jprof" || !is_profile) continue;
    const fs::file_time_type changed = fs::last_write_time(entry.path(), error);
    if (!newest.empty() && changed <= time) continue;
    newest = entry.path().filename().string();
    time = changed;
  }
  return newest;
}

Result<std::string> NewestProfile(bool combined) {
  std::string newest = FindNewestProfile(combined);
  if (newest.empty()) {
    return WrongUse(
        "no profile (*.jprof) in the working directory; "
        "name one, or record one: jprof callflow -- java ...");
  }
  fmt::print(stderr, "jprof: using {}, the newest profile here\n", profile::CleanText(newest));
  return newest;
}

std::string BusiestIn(const std::string& directory) {
  if (!record::IsSeveral(directory)) return directory;
  const auto profiles = record::JvmProfilesAt(directory);
  std::vector<std::string> others;
  for (size_t i = 1; i < profiles.size(); ++i)
    others.push_back(profile::CleanText(profiles[i].path.filename().string()));
  fmt::print(
      stderr, "jprof: using {}{}\n", record::DisplayPath(profiles.front().path),
      others.empty() ? "" : fmt::format(", the busiest JVM; others: {}", fmt::join(others, ", ")));
  return profiles.front().path.string();
}

Result<reports::Source> OpenSource(const std::string& named, const TableChoice& choice) {
  const Result<std::string> chosen = named.empty() ? NewestProfile(false) : named;
  if (!chosen) return std::unexpected(chosen.error());
  const std::string directory = BusiestIn(*chosen);
  Result<profile::Reader> reader = profile::Reader::Open(directory);
  if (!reader) {
    std::error_code error;
    const bool there = fs::exists(directory, error);
    return std::unexpected(
        Error{reader.error().message + (there ? "" : DidYouMean(directory)), reader.error().kind});
  }
  reports::Source source{.reader = std::move(*reader)};
  source.merged = profile::ReadMerged(source.reader);
  if (auto found = FindTable(source, choice); !found) return std::unexpected(found.error());
  return source;
}

Result<std::string> CountedRun(const std::string& directory) {
  const auto meta = profile::ReadCombined(directory);
  if (!meta) return std::unexpected(meta.error());
  const auto counted =
      std::ranges::find(meta->runs, profile::Run::Role::kCounted, &profile::Run::role);
  if (counted != meta->runs.end()) return (fs::path(directory) / counted->profile).string();
  return WrongUse("{}: has no counted run; name one of its profiles: {}",
                  profile::CleanText(directory), RunPaths(directory));
}

std::string RunPaths(const std::string& directory) {
  const auto meta = profile::ReadCombined(directory);
  std::vector<std::string> paths;
  for (const profile::Run& run : meta ? meta->runs : std::vector<profile::Run>())
    paths.push_back(ShellWord(profile::CleanText((fs::path(directory) / run.profile).string())));
  return fmt::format("{}", fmt::join(paths, ", "));
}

Result<reports::Combined> OpenCombined(const std::string& directory, const TableChoice& choice) {
  auto meta = profile::ReadCombined(directory);
  if (!meta) return std::unexpected(meta.error());
  const auto open = [&](const profile::Run& run, const TableChoice& table) {
    return OpenSource((fs::path(directory) / run.profile).string(), table);
  };
  // Sorts the counted run to the front.
  std::ranges::stable_sort(meta->runs, {}, &profile::Run::role);
  const auto sampled = static_cast<size_t>(
      std::ranges::count(meta->runs, profile::Run::Role::kSampled, &profile::Run::role));
  if (sampled == 0 || sampled + 1 != meta->runs.size()) {
    return WrongUse("{}: needs one counted and at least one sampled run, has {} and {}",
                    profile::CleanText(directory), meta->runs.size() - sampled, sampled);
  }
  auto counted = open(meta->runs.front(), choice);
  if (!counted) return std::unexpected(counted.error());
  reports::Combined combined = {.meta = *std::move(meta),
                                .directory = directory,
                                .counted = *std::move(counted),
                                .sampled = {}};
  for (size_t i = 1; i < combined.meta.runs.size(); ++i) {
    auto source = open(combined.meta.runs[i], {});  // samples need no table
    if (!source) return std::unexpected(source.error());
    combined.sampled.push_back(*std::move(source));
  }
  return combined;
}

}  // namespace jprof::cli
