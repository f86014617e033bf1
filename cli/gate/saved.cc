#include "cli/gate/saved.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "calibrate/store/table_store.h"
#include "common/nearest.h"
#include "profile/files/printable_text.h"
#include "record/place/profile_place.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".jprof";

fs::path SavedFolder() { return calibrate::DataDirectory().parent_path() / "saved"; }

bool IsPath(const std::string& name) { return name.contains('/'); }

bool Exists(const fs::path& place) {
  std::error_code ignored;
  return fs::exists(place, ignored);
}

std::vector<std::string> SavedNames() {
  std::error_code ignored;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(SavedFolder(), ignored)) {
    if (entry.path().extension() == kExtension)
      names.push_back(profile::CleanText(entry.path().stem().string()));
  }
  std::ranges::sort(names);
  return names;
}

fs::path Unfinished(fs::path place) { return place += ".new"; }

}  // namespace

Result<fs::path> SavedPlace(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.starts_with('-') || name.contains('\0') ||
      name.ends_with('/')) {
    return WrongUse("'{}' is no name of a saved profile; choose one like main, or a path with a /",
                    profile::CleanText(name));
  }
  return IsPath(name) ? fs::path(name) : SavedFolder() / (name + std::string(kExtension));
}

std::string SavedOr(const std::string& named) {
  if (named.empty() || IsPath(named) || Exists(named)) return named;
  const auto place = SavedPlace(named);
  return place && Exists(*place) ? place->string() : named;
}

Result<std::string> SavedProfile(const std::string& name) {
  const auto place = SavedPlace(name);
  if (!place) return std::unexpected(place.error());
  if (Exists(*place)) return place->string();
  const std::vector<std::string> names = SavedNames();
  const std::vector<std::string_view> choices(names.begin(), names.end());
  const auto nearest = Nearest(name, choices);
  return WrongUse(
      "no profile is saved as {} ({}){}{}; save one: jprof profile --save {} -- COMMAND",
      profile::CleanText(name), profile::CleanText(place->string()),
      nearest ? fmt::format("; did you mean '{}'?", *nearest) : "",
      names.empty() ? "" : fmt::format("; saved are: {}", fmt::join(names, ", ")),
      profile::CleanText(name));
}

Result<fs::path> PrepareSave(const std::string& name) {
  const auto place = SavedPlace(name);
  if (!place) return place;
  std::error_code failed;
  if (!IsPath(name)) fs::create_directories(place->parent_path(), failed);
  if (failed) {
    return Fail("cannot make {}: {}; save to a path: --save ./{}", place->parent_path().string(),
                failed.message(), name);
  }
  if (auto can = record::CheckPlace(*place, /*force=*/true); !can)
    return std::unexpected(can.error());
  return Unfinished(*place);
}

Result<fs::path> Save(const std::string& name) {
  const auto place = SavedPlace(name);
  if (!place) return place;
  const auto prepared = record::PreparePlace(*place, /*force=*/true);
  if (!prepared) return prepared;
  std::error_code failed;
  fs::rename(Unfinished(*place), *place, failed);
  if (failed) {
    return Fail("cannot save {}: {}; the profile is {}", place->string(), failed.message(),
                Unfinished(*place).string());
  }
  return place;
}

}  // namespace jprof::cli
