#include "cli/shared/profile_source.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/nearest.h"
#include "common/shell_word.h"
#include "profile/files/printable_text.h"
#include "profile/read/combined.h"
#include "profile/read/scale_meta.h"
#include "record/place/jvm_profiles.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/print_error.h"

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

// Adds to the error that a profile does not exist the nearest name that does.
Error WithNearest(Error error, const std::string& directory) {
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) error.message += DidYouMean(directory);
  return error;
}

Result<std::string> FirstSampled(const std::string& directory) {
  const auto meta = profile::ReadCombined(directory);
  if (!meta) return std::unexpected(meta.error());
  const auto run = std::ranges::find(meta->runs, profile::Run::Role::kSampled, &profile::Run::role);
  if (run == meta->runs.end()) return WrongUse("{} has no sampled run to compare", directory);
  const fs::path path = fs::path(directory) / run->profile;
  fmt::print(stderr, "jprof: using {}, a sampled run of the combined profile\n",
             record::DisplayPath(path));
  return path.string();
}

model::TableChoice Busiest(model::TableChoice choice) {
  choice.one_of_several = BusiestIn;
  return choice;
}

}  // namespace

std::string FindNewestProfile(bool combined) {
  std::error_code error;
  std::string newest;
  fs::file_time_type time;
  for (const fs::directory_entry& entry : fs::directory_iterator(".", error)) {
    const bool is_profile =
        !record::ProfilesAt(entry.path()).empty() ||
        (combined && (profile::IsCombined(entry.path()) || profile::IsScale(entry.path())));
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
        "no profile (*.jprof) in the working directory; name one, or make one: jprof profile -- "
        "java -jar app.jar");
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

Result<void> RefuseEvents(const std::string& directory, std::string_view done) {
  if (model::KindOf(directory) != model::InputKind::kEvents) return {};
  std::vector<std::string> paths;
  for (const fs::path& path : record::ProfilesAt(directory))
    paths.push_back(record::DisplayPath(path));
  return WrongUse("{} is {}: events cannot be {}, only profiles can; {}",
                  profile::CleanText(directory), model::NameOf(model::InputKind::kEvents), done,
                  paths.empty() ? "there is none in it"
                                : fmt::format("those in it are: {}", fmt::join(paths, ", ")));
}

void PrintEventLosses(const model::Input& input) {
  for (const std::string& loss : model::EventLosses(input))
    record::PrintError(profile::CleanText(loss));
}

Result<model::Source> OpenProfile(const std::string& named, const TableChoice& choice) {
  const Result<std::string> directory = named.empty() ? NewestProfile(false) : named;
  if (!directory) return std::unexpected(directory.error());
  auto source = model::OpenSource(*directory, Busiest(choice));
  if (!source) return std::unexpected(WithNearest(source.error(), *directory));
  return source;
}

Result<model::Input> OpenNamed(const std::string& directory, const TableChoice& choice) {
  auto input = model::Open(directory, Busiest(choice));
  if (!input) return std::unexpected(WithNearest(input.error(), directory));
  return input;
}

namespace {

// Returns the profile in `directory` that can be compared with others. Fails for anything that is
// shown alone.
Result<std::string> ComparableIn(const std::string& directory) {
  const model::InputKind kind = model::KindOf(directory);
  if (kind == model::InputKind::kProfile) return directory;
  if (kind == model::InputKind::kCombined) return FirstSampled(directory);
  const std::string shown = profile::CleanText(directory);
  return WrongUse("{} is {}, which is shown alone: jprof view {}", shown, model::NameOf(kind),
                  ShellWord(shown));
}

}  // namespace

Result<model::Source> OpenComparable(const std::string& named, const TableChoice& choice) {
  const Result<std::string> directory = named.empty() ? NewestProfile(true) : named;
  if (!directory) return std::unexpected(directory.error());
  const auto comparable = ComparableIn(*directory);
  if (!comparable) return std::unexpected(comparable.error());
  TableChoice same = choice;
  same.as_trained = true;
  return OpenProfile(*comparable, same);
}

}  // namespace jprof::cli
