#include "record/place/place_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "record/place/profile_place.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// Requires the absolute path of a place.
fs::path FolderOf(const fs::path& place) { return place.string() + ".unfinished"; }

std::unexpected<Error> Claimed(const fs::path& place) {
  return WrongUse(
      "another jprof is recording to {}; choose another directory with -o; nothing was started",
      place.string());
}

Fd OpenFolder(const fs::path& folder) {
  return Fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Returns whether another process has the lock. File systems without locks have no claims.
bool IsLocked(const Fd& folder) {
  return flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// Returns whether the path is still that of the open folder.
bool IsAt(const fs::path& path, const Fd& folder) {
  struct stat open = {}, now = {};
  return fstat(folder.get(), &open) == 0 && lstat(path.c_str(), &now) == 0 &&
         open.st_dev == now.st_dev && open.st_ino == now.st_ino;
}

}  // namespace

Result<PlaceClaim> PlaceClaim::Take(const fs::path& place) {
  const fs::path folder = FolderOf(place);
  constexpr int kTries = 10;  // the folder may be moved while it is opened
  for (int i = 0; i < kTries; ++i) {
    if (mkdir(folder.c_str(), kPrivateDirectory) != 0 && errno != EEXIST) break;
    Fd lock = OpenFolder(folder);
    if (!lock && errno == ENOENT) continue;
    if (!lock) break;
    if (IsLocked(lock)) return Claimed(place);
    if (!IsAt(folder, lock)) continue;
    if (auto emptied = EmptyTrace(folder); !emptied) return std::unexpected(emptied.error());
    return PlaceClaim(folder, std::move(lock));
  }
  return WrongUse("cannot make {}: {}; choose another directory with -o; nothing was started",
                  folder.string(), ErrnoText());
}

PlaceClaim::~PlaceClaim() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::error_code PlaceClaim::MoveTo(const fs::path& path) {
  std::error_code failed;
  fs::rename(folder_, path, failed);
  folder_.clear();
  return failed;
}

Result<void> CheckUnclaimed(const fs::path& place) {
  const auto resolved = ResolvedPlace(place);
  if (!resolved) return std::unexpected(resolved.error());
  const Fd folder = OpenFolder(FolderOf(*resolved));
  return folder && IsLocked(folder) ? Claimed(*resolved) : Result<void>();
}

Result<fs::path> PrepareUnclaimed(const fs::path& place, bool force) {
  if (auto unclaimed = CheckUnclaimed(place); !unclaimed) return std::unexpected(unclaimed.error());
  return PreparePlace(place, force);
}

}  // namespace jprof::record
