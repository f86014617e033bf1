#include "record/place/profile_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "common/errno_text.h"
#include "common/fd.h"
#include "common/private_file.h"
#include "common/write_all.h"
#include "profile/files/file_list.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// The functions that copy return an errno, or 0 after success.

int CopyByReading(int from, int to, off_t at, off_t end) {
  std::vector<char> bytes(size_t{1} << 20);
  while (at < end) {
    const size_t most = std::min(bytes.size(), static_cast<size_t>(end - at));
    const ssize_t got = pread(from, bytes.data(), most, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;  // the file became shorter
    const int error = WriteAllAt(to, {bytes.data(), static_cast<size_t>(got)}, at);
    if (error != 0) return error;
    at += got;
  }
  return 0;
}

// Copies within the file system if possible, because some share the blocks.
int CopyRange(int from, int to, off_t at, off_t end) {
  while (at < end) {
    off_t in = at, out = at;
    const ssize_t got = copy_file_range(from, &in, to, &out, static_cast<size_t>(end - at), 0);
    if (got < 0 && errno == ENOSPC) return errno;
    if (got <= 0) return CopyByReading(from, to, at, end);
    at += got;
  }
  return 0;
}

Fd OpenAs(UserIds reader, const fs::path& path) {
  const ScopedUser user(reader);
  const int opened = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  return Fd(opened);
}

// Ignores a file that does not exist or is not a regular file.
int CopyFile(const fs::path& from, const fs::path& to, UserIds reader) {
  const Fd source = OpenAs(reader, from);
  if (!source) return errno == ENOENT || errno == ELOOP ? 0 : errno;
  struct stat about = {};
  if (fstat(source.get(), &about) != 0) return errno;
  if (!S_ISREG(about.st_mode)) return 0;
  Fd target(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPrivateFile));
  if (!target) return errno;
  if (const int error = CopyData(source.get(), target.get(), about.st_size); error != 0)
    return error;
  return close(target.Release()) == 0 ? 0 : errno;
}

}  // namespace

int CopyData(int from, int to, off_t size) {
  if (ftruncate(to, size) != 0) return errno;
  for (off_t at = 0; at < size;) {
    const off_t data = lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return 0;            // only a hole is left
    if (data < 0) return CopyRange(from, to, at, size);  // no holes are known
    const off_t hole = lseek(from, data, SEEK_HOLE);
    const off_t end = hole < 0 ? size : std::min(hole, size);
    if (const int error = CopyRange(from, to, data, end); error != 0) return error;
    at = std::max(end, data + 1);
  }
  return 0;
}

Result<void> CopyProfile(const fs::path& from, const fs::path& to, UserIds reader) {
  if (mkdir(to.c_str(), kPrivateDirectory) != 0)
    return Fail("cannot make {}: {}", to.string(), ErrnoText());
  for (const std::string_view file : profile::kProfileFiles) {
    if (const int error = CopyFile(from / file, to / file, reader); error != 0) {
      return Fail("cannot copy {} to {}: {}", (from / file).string(), to.string(),
                  ErrnoText(error));
    }
  }
  return {};
}

}  // namespace jprof::record
