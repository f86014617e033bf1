#include "record/place/flush_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/errno_text.h"
#include "common/fd.h"

namespace jprof::record {
namespace {

// Flushes a file. fsync also writes the pages that are dirty in a shared mapping of the file, as
// msync would.
Result<void> FlushFile(int directory_fd, const char* name) {
  struct stat status;
  if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(status.st_mode))
    return {};
  const Fd fd(openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT) return {};  // renamed in the meantime
  if (fd && fsync(fd.get()) == 0) return {};
  return Fail("cannot write {} to the disk: {}", name, ErrnoText());
}

}  // namespace

Result<void> FlushFolder(int directory_fd) {
  const int listed = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = listed >= 0 ? fdopendir(listed) : nullptr;
  if (entries == nullptr) return Fail("cannot list the profile: {}", ErrnoText());
  Result<void> flushed;
  while (const dirent* entry = readdir(entries)) {
    flushed = FlushFile(directory_fd, entry->d_name);
    if (!flushed) break;
  }
  closedir(entries);
  if (!flushed) return flushed;
  const Fd parent(openat(directory_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fsync(directory_fd) != 0 || (parent && fsync(parent.get()) != 0))
    return Fail("cannot write the profile's folder to the disk: {}", ErrnoText());
  return {};
}

}  // namespace jprof::record
