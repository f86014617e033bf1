#include "record/place/profile_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "profile/files/file_list.h"
#include "profile/files/layout.h"
#include "profile/files/recording_meta.h"
#include "profile/files/whole_file.h"
#include "profile/pieces/piece_list.h"
#include "record/place/place_claim.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The kinds of directories that may be replaced.
enum class PlaceKind {
  kProfile,
  kSeveral,
  kCombined,
  kScale,
  kPieces,
  kEvents,
  kPrograms,
  kTrace,
  kTraceFolder
};

// Returns whether the name is like NAME-PID or NAME-PID-NUMBER.
bool IsJvmName(std::string_view name) {
  const size_t dash = name.rfind('-');
  return dash != name.npos && dash != 0 && AllDigits(name.substr(dash + 1));
}

// Returns whether a combined profile may contain a run of this name: counted, counted-N or
// sampled-N.
bool IsRunName(std::string_view name) {
  const size_t dash = std::min(name.find('-'), name.size());
  const std::string_view kind = name.substr(0, dash), number = name.substr(dash);
  return (kind == profile::kCountedProfile && number.empty()) ||
         ((kind == profile::kCountedProfile || kind == "sampled") && number.starts_with('-') &&
          AllDigits(number.substr(1)));
}

// Returns whether it is the file of that name, or one that is being written.
bool IsFileOf(std::string_view file, std::string_view name) {
  return name == file || name == std::string(file) + ".tmp";
}

// Returns true also for a combined profile without runs.json, whose recording was interrupted.
bool IsCombinedPlace(const fs::path& place) {
  std::error_code failed;
  if (profile::IsCombined(place)) return true;
  for (const auto& entry : fs::directory_iterator(place, failed)) {
    if (IsRunName(entry.path().filename().string()) && !ProfilesAt(entry.path()).empty())
      return true;
  }
  return false;
}

// Returns true also for a result of jprof scale without scale.json, which was interrupted.
bool IsScalePlace(const fs::path& place) {
  std::error_code failed;
  if (profile::IsScale(place)) return true;
  for (const auto& entry : fs::directory_iterator(place, failed)) {
    if (profile::IsSizeProfile(entry.path().filename().string()) && IsCombinedPlace(entry.path()))
      return true;
  }
  return false;
}

bool HasEvents(const fs::path& place) {
  std::error_code ignored;
  return fs::is_directory(place / profile::kEventsFolder, ignored);
}

std::optional<PlaceKind> PlaceKindOf(const fs::path& place) {
  if (IsProfile(place)) return PlaceKind::kProfile;
  if (IsCombinedPlace(place)) return PlaceKind::kCombined;
  if (IsScalePlace(place)) return PlaceKind::kScale;
  const bool is_several = !ProfilesAt(place).empty() || HasEvents(place);
  return is_several ? std::optional(PlaceKind::kSeveral) : std::nullopt;
}

// Returns whether a directory of this kind may contain a directory of this name.
bool MayContain(PlaceKind kind, std::string_view name) {
  switch (kind) {
    case PlaceKind::kProfile:
      return name == profile::kEventsFolder || name == profile::kPiecesFolder;
    case PlaceKind::kPieces:
      return profile::kPieceNames.NumberIn(name) != 0 || name == profile::kNewPiece ||
             name == profile::kOldPiece;
    case PlaceKind::kCombined:
      return IsRunName(name);
    case PlaceKind::kScale:
      return profile::IsSizeProfile(name);
    case PlaceKind::kSeveral:
      return IsJvmName(name) || name == profile::kEventsFolder;
    case PlaceKind::kEvents:
      return name == profile::kKernelFolder || name == profile::kJvmFolder ||
             name == profile::kProgramsFolder;
    case PlaceKind::kPrograms:  // PID or PID-NUMBER
      return AllDigits(name) || IsJvmName(name);
    case PlaceKind::kTrace:  // that of the kernel has the programs' while it is recorded
      return name == "specifications" || name == "statistics" || name == profile::kProgramsFolder;
    case PlaceKind::kTraceFolder:
      return false;
  }
  return false;
}

// Returns whether a directory of this kind may contain a file of this name.
bool MayContainFile(PlaceKind kind, std::string_view name) {
  const bool is_packet =
      name.starts_with("thread-") || name.starts_with(".thread-") || name.starts_with("processor-");
  switch (kind) {
    case PlaceKind::kProfile:
      return profile::IsProfileFile(name);
    case PlaceKind::kCombined:
      return IsFileOf(profile::kRunsFile, name);
    case PlaceKind::kScale:
      return IsFileOf(profile::kScaleFile, name);
    case PlaceKind::kSeveral:
    case PlaceKind::kPieces:
      return false;
    case PlaceKind::kEvents:
      return IsFileOf(profile::kRecordingFile, name);
    case PlaceKind::kPrograms:
      return false;
    case PlaceKind::kTrace:
      return is_packet || name == "metadata" || name == ".unfinished" || name == ".jprof-control";
    case PlaceKind::kTraceFolder:
      return is_packet || name == "events" || name == ".unfinished" || name.ends_with(".xml");
  }
  return false;
}

// Returns the kind of a directory in one of the given kind.
PlaceKind KindInside(PlaceKind outer, const fs::path& place) {
  if (outer == PlaceKind::kScale) return PlaceKind::kCombined;
  if (place.filename() == profile::kProgramsFolder) return PlaceKind::kPrograms;
  if (outer == PlaceKind::kEvents || outer == PlaceKind::kPrograms) return PlaceKind::kTrace;
  if (outer == PlaceKind::kTrace) return PlaceKind::kTraceFolder;
  if (place.filename() == profile::kEventsFolder) return PlaceKind::kEvents;
  if (place.filename() == profile::kPiecesFolder) return PlaceKind::kPieces;
  const bool several =
      outer == PlaceKind::kCombined && !IsProfile(place) && !ProfilesAt(place).empty();
  return several ? PlaceKind::kSeveral : PlaceKind::kProfile;
}

std::unexpected<Error> Foreign(const fs::path& place, const std::string& name) {
  return WrongUse(
      "{} contains {}, which is not part of a profile; nothing was removed; choose another "
      "directory with -o",
      place.string(), name);
}

// Fails unless every file in it belongs to a profile, because any other file is the user's.
Result<void> CheckRemovable(const fs::path& place, PlaceKind kind) {
  std::error_code failed;
  if (fs::is_symlink(place, failed))
    return WrongUse("{} is a symbolic link; choose another directory with -o", place.string());
  for (const auto& entry : fs::directory_iterator(place, failed)) {
    const std::string name = entry.path().filename();
    if (MayContain(kind, name) && entry.is_directory(failed)) {
      const PlaceKind inside = KindInside(kind, entry.path());
      if (auto removable = CheckRemovable(entry.path(), inside); !removable) return removable;
      continue;
    }
    if (!MayContainFile(kind, name) || entry.is_directory(failed)) return Foreign(place, name);
  }
  if (!failed && access(place.c_str(), W_OK | X_OK) == 0) return {};
  return WrongUse("cannot remove the old profile {}: {}; choose another directory with -o",
                  place.string(), failed ? failed.message() : ErrnoText());
}

void RemoveAll(const fs::path& place, PlaceKind kind);

// Requires that CheckRemovable has succeeded.
void Empty(const fs::path& place, PlaceKind kind) {
  std::error_code failed;
  std::vector<fs::path> inside;
  for (const auto& entry : fs::directory_iterator(place, failed)) inside.push_back(entry.path());
  for (const fs::path& path : inside) {
    const std::string name = path.filename();
    if (MayContainFile(kind, name)) unlink(path.c_str());
    if (MayContain(kind, name)) RemoveAll(path, KindInside(kind, path));
  }
}

void RemoveAll(const fs::path& place, PlaceKind kind) {
  Empty(place, kind);
  rmdir(place.c_str());
}

// Renames the profile first. Either this fails before any file is removed, or it frees the name.
Result<void> Replace(const fs::path& place, PlaceKind kind) {
  const fs::path aside = fmt::format("{}.old-{}", place.string(), getpid());
  if (rename(place.c_str(), aside.c_str()) != 0) {
    return WrongUse("cannot remove the old profile {}: {}; choose another directory with -o",
                    place.string(), ErrnoText());
  }
  RemoveAll(aside, kind);
  std::error_code ignored;
  if (fs::exists(aside, ignored))
    PrintError(
        fmt::format("the remainder of the old profile is in {}: {}", aside.string(), ErrnoText()));
  return {};
}

// Fails if MakeRoom would fail. Changes nothing.
Result<void> CheckRoom(const fs::path& place, bool force) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(place, ignored);
  if (!fs::exists(status)) return {};
  if (fs::is_directory(status) && fs::is_empty(place, ignored)) return {};
  const auto kind = PlaceKindOf(place);
  if (!kind) {
    return WrongUse("{} exists and is not a profile; choose another directory with -o",
                    place.string());
  }
  if (!force) {
    return WrongUse(
        "{} is already a profile; choose another directory with -o, or replace it with --force",
        place.string());
  }
  return CheckRemovable(place, *kind);
}

Result<void> MakeRoom(const fs::path& place, bool force) {
  if (auto checked = CheckRoom(place, force); !checked) return checked;
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(place, ignored)) || rmdir(place.c_str()) == 0) return {};
  const auto kind = PlaceKindOf(place);
  return kind ? Replace(place, *kind) : Result<void>();
}

}  // namespace

Result<fs::path> ResolvedPlace(const fs::path& place) {
  std::error_code failed;
  fs::path absolute = fs::absolute(place, failed).lexically_normal();
  if (failed) return WrongUse("cannot resolve the path {}: {}", place.string(), failed.message());
  return absolute.has_filename() ? absolute : absolute.parent_path();  // DIR/
}

fs::path FreePlace(const std::string& name) {
  std::error_code ignored;
  fs::path place = name + ".jprof";
  if (!ResolvedPlace(place)) return place;  // whoever makes it fails, and says why
  for (int number = 2; fs::exists(fs::symlink_status(place, ignored)) || !CheckUnclaimed(place);
       ++number) {
    place = fmt::format("{}-{}.jprof", name, number);
  }
  return place;
}

Result<fs::path> PreparePlace(const fs::path& place, bool force) {
  const auto absolute = ResolvedPlace(place);
  if (!absolute) return absolute;
  if (auto room = MakeRoom(*absolute, force); !room) return std::unexpected(room.error());
  if (auto made = MakePlace(*absolute); !made) return std::unexpected(made.error());
  rmdir(absolute->c_str());
  return absolute;
}

Result<void> CheckPlace(const fs::path& place, bool force) {
  const auto absolute = ResolvedPlace(place);
  if (!absolute) return std::unexpected(absolute.error());
  return CheckRoom(*absolute, force);
}

Result<void> MakePlace(const fs::path& place) {
  if (mkdir(place.c_str(), kPrivateDirectory) == 0) return {};
  return WrongUse("cannot make the profile directory {}: {}; choose another with -o",
                  place.string(), ErrnoText());
}

Result<void> WriteRuns(const fs::path& directory, const profile::CombinedMeta& meta) {
  return profile::WriteWholeFile(directory / profile::kRunsFile, profile::ToJson(meta));
}

Result<void> WriteScale(const fs::path& directory, const profile::ScaleMeta& meta) {
  return profile::WriteWholeFile(directory / profile::kScaleFile, profile::ToJson(meta));
}

bool IsProfile(const fs::path& directory) {
  std::ifstream control(directory / profile::kControlFile, std::ios::binary);
  char magic[sizeof(profile::kMagic)] = {};
  control.read(magic, sizeof(magic));
  return control && std::memcmp(magic, profile::kMagic, sizeof(magic)) == 0;
}

bool IsSeveral(const fs::path& directory) {
  return !IsProfile(directory) && !IsCombinedPlace(directory) && !ProfilesAt(directory).empty();
}

std::vector<fs::path> ProfilesAt(const fs::path& place) {
  std::error_code ignored;
  return ProfilesAt(place, ignored);
}

std::vector<fs::path> ProfilesAt(const fs::path& place, std::error_code& failed) {
  if (IsProfile(place)) return {place};
  std::vector<fs::path> profiles;
  for (const auto& entry : fs::directory_iterator(place, failed)) {
    if (IsJvmName(entry.path().filename().string()) && IsProfile(entry.path()))
      profiles.push_back(entry.path());
  }
  if (failed == std::errc::no_such_file_or_directory) failed.clear();
  std::ranges::sort(profiles);
  return profiles;
}

Result<void> EmptyTrace(const fs::path& trace) {
  auto removable = CheckRemovable(trace, PlaceKind::kTrace);
  if (removable) Empty(trace, PlaceKind::kTrace);
  return removable;
}

Result<void> CheckEvents(const fs::path& events) {
  return CheckRemovable(events, PlaceKind::kEvents);
}

void RemoveEvents(const fs::path& events) { RemoveAll(events, PlaceKind::kEvents); }

void RemoveProfile(const fs::path& profile) { RemoveAll(profile, PlaceKind::kProfile); }

}  // namespace jprof::record
