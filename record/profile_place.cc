#include "record/profile_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "common/errno_text.h"
#include "profile/files.h"
#include "record/print_error.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// Fails unless every file in it belongs to a profile: any other file is the user's.
Result<void> CheckRemovable(const fs::path& place) {
  std::error_code failed;
  if (fs::is_symlink(place, failed))
    return WrongUse("{} is a symbolic link; choose another directory with -o", place.string());
  for (const auto& entry : fs::directory_iterator(place, failed)) {
    const std::string name = entry.path().filename();
    if (profile::IsProfileFile(name) && !entry.is_directory(failed)) continue;
    return WrongUse(
        "{} contains {}, which is not part of a profile; nothing was removed; choose another "
        "directory with -o",
        place.string(), name);
  }
  if (!failed && access(place.c_str(), W_OK | X_OK) == 0) return {};
  return WrongUse("cannot remove the old profile {}: {}; choose another directory with -o",
                  place.string(), failed ? failed.message() : ErrnoText());
}

// Renames the profile first: that fails before any file is removed, or frees the name.
Result<void> RemoveProfile(const fs::path& place) {
  if (auto removable = CheckRemovable(place); !removable) return removable;
  const fs::path aside = fmt::format("{}.old-{}", place.string(), getpid());
  if (rename(place.c_str(), aside.c_str()) != 0) {
    return WrongUse("cannot remove the old profile {}: {}; choose another directory with -o",
                    place.string(), ErrnoText());
  }
  for (const std::string_view file : profile::kProfileFiles) unlink((aside / file).c_str());
  if (rmdir(aside.c_str()) != 0)
    PrintError(
        fmt::format("the remainder of the old profile is in {}: {}", aside.string(), ErrnoText()));
  return {};
}

Result<void> MakeRoom(const fs::path& place, bool force) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(place, ignored))) return {};
  if (rmdir(place.c_str()) == 0) return {};
  if (!IsProfile(place)) {
    return WrongUse("{} exists and is not a profile; choose another directory with -o",
                    place.string());
  }
  if (!force) {
    return WrongUse(
        "{} is already a profile; choose another directory with -o, or replace it with --force",
        place.string());
  }
  return RemoveProfile(place);
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
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
  if (mkdir(absolute.c_str(), 0755) != 0) {
    return WrongUse(
        "cannot make the profile directory {}: {}; choose another with -o; nothing was started",
        absolute.string(), ErrnoText());
  }
  rmdir(absolute.c_str());
  return absolute;
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
