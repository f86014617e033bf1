#include "record/profile_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "common/errno_text.h"
#include "profile/combined.h"
#include "profile/files.h"
#include "record/print_error.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether a combined profile may contain a profile of this name: counted, sampled-N, or one of
// these with .PID, for the JVMs of a run with --children.
bool IsRunName(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot != name.npos && !AllDigits(name.substr(dot + 1))) return false;
  name = name.substr(0, dot);
  constexpr std::string_view kSampled = "sampled-";
  return name == profile::kCountedProfile ||
         (name.starts_with(kSampled) && AllDigits(name.substr(kSampled.size())));
}

bool IsRunsFile(std::string_view name) {
  return name == profile::kRunsFile || name == std::string(profile::kRunsFile) + ".tmp";
}

// Also one whose runs.json was not written because its recording was interrupted.
bool IsCombinedPlace(const fs::path& place) {
  std::error_code failed;
  if (profile::IsCombined(place)) return true;
  for (const auto& entry : fs::directory_iterator(place, failed)) {
    if (IsRunName(entry.path().filename().string()) && IsProfile(entry.path())) return true;
  }
  return false;
}

std::unexpected<Error> Foreign(const fs::path& place, const std::string& name) {
  return WrongUse(
      "{} contains {}, which is not part of a profile; nothing was removed; choose another "
      "directory with -o",
      place.string(), name);
}

// Fails unless every file in it belongs to a profile: any other file is the user's.
Result<void> CheckRemovable(const fs::path& place, bool combined) {
  std::error_code failed;
  if (fs::is_symlink(place, failed))
    return WrongUse("{} is a symbolic link; choose another directory with -o", place.string());
  for (const auto& entry : fs::directory_iterator(place, failed)) {
    const std::string name = entry.path().filename();
    if (combined && IsRunName(name) && entry.is_directory(failed)) {
      if (auto removable = CheckRemovable(entry.path(), false); !removable) return removable;
      continue;
    }
    const bool ours = combined ? IsRunsFile(name) : profile::IsProfileFile(name);
    if (!ours || entry.is_directory(failed)) return Foreign(place, name);
  }
  if (!failed && access(place.c_str(), W_OK | X_OK) == 0) return {};
  return WrongUse("cannot remove the old profile {}: {}; choose another directory with -o",
                  place.string(), failed ? failed.message() : ErrnoText());
}

void RemoveFiles(const fs::path& profile) {
  for (const std::string_view file : profile::kProfileFiles) unlink((profile / file).c_str());
}

void RemoveRuns(const fs::path& combined) {
  std::error_code failed;
  std::vector<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(combined, failed)) runs.push_back(entry.path());
  for (const fs::path& run : runs) {
    if (IsRunsFile(run.filename().string())) unlink(run.c_str());
    if (!IsRunName(run.filename().string())) continue;
    RemoveFiles(run);
    rmdir(run.c_str());
  }
}

// Renames the profile first: that fails before any file is removed, or frees the name.
Result<void> RemoveProfile(const fs::path& place, bool combined) {
  if (auto removable = CheckRemovable(place, combined); !removable) return removable;
  const fs::path aside = fmt::format("{}.old-{}", place.string(), getpid());
  if (rename(place.c_str(), aside.c_str()) != 0) {
    return WrongUse("cannot remove the old profile {}: {}; choose another directory with -o",
                    place.string(), ErrnoText());
  }
  combined ? RemoveRuns(aside) : RemoveFiles(aside);
  if (rmdir(aside.c_str()) != 0)
    PrintError(
        fmt::format("the remainder of the old profile is in {}: {}", aside.string(), ErrnoText()));
  return {};
}

Result<void> MakeRoom(const fs::path& place, bool force) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(place, ignored))) return {};
  if (rmdir(place.c_str()) == 0) return {};
  const bool combined = IsCombinedPlace(place);
  if (!combined && !IsProfile(place)) {
    return WrongUse("{} exists and is not a profile; choose another directory with -o",
                    place.string());
  }
  if (!force) {
    return WrongUse(
        "{} is already a profile; choose another directory with -o, or replace it with --force",
        place.string());
  }
  return RemoveProfile(place, combined);
}

}  // namespace

fs::path FreePlace(const std::string& name) {
  std::error_code ignored;
  fs::path place = name + ".jprof";
  for (int number = 2; fs::exists(fs::symlink_status(place, ignored)); ++number) {
    place = fmt::format("{}-{}.jprof", name, number);
  }
  return place;
}

Result<fs::path> PreparePlace(const fs::path& place, bool force) {
  std::error_code failed;
  fs::path absolute = fs::absolute(place, failed).lexically_normal();
  if (failed) return WrongUse("cannot resolve the path {}: {}", place.string(), failed.message());
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // DIR/
  if (auto room = MakeRoom(absolute, force); !room) return std::unexpected(room.error());
  if (auto made = MakePlace(absolute); !made) return std::unexpected(made.error());
  rmdir(absolute.c_str());
  return absolute;
}

Result<void> MakePlace(const fs::path& place) {
  if (mkdir(place.c_str(), 0755) == 0) return {};
  return WrongUse(
      "cannot make the profile directory {}: {}; choose another with -o; nothing was started",
      place.string(), ErrnoText());
}

bool IsProfile(const fs::path& directory) {
  std::ifstream control(directory / profile::kControlFile, std::ios::binary);
  char magic[sizeof(profile::kMagic)] = {};
  control.read(magic, sizeof(magic));
  return control && std::memcmp(magic, profile::kMagic, sizeof(magic)) == 0;
}

std::vector<fs::path> ProfilesAt(const fs::path& place) {
  std::vector<fs::path> profiles;
  const std::string stem = place.filename().string() + ".";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place.parent_path(), ignored)) {
    const std::string name = entry.path().filename();
    const bool sibling =
        name.starts_with(stem) && AllDigits(std::string_view(name).substr(stem.size()));
    if ((sibling || entry.path() == place) && IsProfile(entry.path()))
      profiles.push_back(entry.path());
  }
  const auto made = [&](const fs::path& p) {
    return fs::last_write_time(p / profile::kMetaFile, ignored);
  };
  std::ranges::sort(profiles, {}, made);
  return profiles;
}

}  // namespace jprof::record
