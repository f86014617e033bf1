#include "profile/files/kept_file.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/private_file.h"
#include "common/procfs.h"

namespace jprof::profile {
namespace {

// Returns an empty path if it is not known.
std::string PathOf(int fd) {
  char path[PATH_MAX];
  const ssize_t length = readlink(procfs::DescriptorPath(fd).c_str(), path, sizeof path);
  if (length <= 0 || path[0] != '/') return "";
  return std::string(path, static_cast<size_t>(length));
}

}  // namespace

bool KeptFile::Open(int dir_fd, const char* name, int flags) {
  const int fd = openat(dir_fd, name, flags | O_CLOEXEC, kPrivateFile);
  if (fd < 0) return false;
  fd_.Reset(fd);
  flags_ = (flags & ~(O_CREAT | O_EXCL)) | O_NOFOLLOW | O_CLOEXEC;
  path_ = PathOf(fd_.get());
  return true;
}

int KeptFile::Get() {
  if (const int fd = fd_.get(); fd >= 0) return fd;
  errno = ESTALE;
  if (!fd_ || path_.empty()) return -1;
  KeptFd again(open(path_.c_str(), flags_));
  if (again && again.identity() == fd_.identity()) {
    fd_.Forget();
    fd_ = std::move(again);
    return fd_.get();
  }
  errno = ESTALE;
  return -1;
}

}  // namespace jprof::profile
