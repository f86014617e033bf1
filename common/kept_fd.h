// A descriptor that this library keeps open in a process whose program opens descriptors of its own
// and closes some that it does not know. It has a high number, which open() does not assign to
// another file, and `get` returns it only while it still refers to the same file. So nothing of the
// program's is read, written or closed.
//
// The file is identified by device and inode. This works for files, directories, sockets and pipes,
// but not for eventfds and perf events, which share one inode.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace jprof {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

inline std::optional<FileIdentity> IdentityOf(int fd) {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

// Moves a descriptor that was just opened to a high number, and returns that number. Returns `fd`
// if it is negative or no high number is free.
inline int MoveUp(int fd) {
  constexpr rlim_t kMost = 4096;  // the kernel's table of descriptors has this size or more then
  rlimit limit;
  if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return fd;
  const int least = static_cast<int>(std::min(limit.rlim_cur / 2, kMost));
  if (fd >= least) return fd;
  const int up = fcntl(fd, F_DUPFD_CLOEXEC, least);
  if (up < 0) return fd;
  if (IdentityOf(fd) == IdentityOf(up)) close(fd);  // else another thread has just closed it
  return up;
}

class KeptFd {
 public:
  KeptFd() = default;
  explicit KeptFd(int fd) { Reset(fd); }
  KeptFd(KeptFd&& other) noexcept { *this = std::move(other); }
  KeptFd& operator=(KeptFd&& other) noexcept {
    if (this != &other) Reset();
    fd_ = std::exchange(other.fd_, -1);
    identity_ = other.identity_;
    return *this;
  }
  ~KeptFd() { Reset(); }

  // Returns a negative value if there is no descriptor or the program has closed it. Call it again
  // before each use.
  int get() const { return fd_ >= 0 && IdentityOf(fd_) == identity_ ? fd_ : -1; }

  // Returns whether there is a descriptor, even if the program has closed it.
  explicit operator bool() const { return fd_ >= 0; }
  const FileIdentity& identity() const { return identity_; }

  // Closes the descriptor, if it is still this one, and owns `fd` instead, which it moves up.
  void Reset(int fd = -1) {
    const int old = get();
    fd_ = -1;
    if (old >= 0) close(old);
    if (fd < 0) return;
    fd_ = MoveUp(fd);
    identity_ = IdentityOf(fd_).value_or(FileIdentity{});
  }

  // Gives up a descriptor that the program has closed. Otherwise the number could be closed later,
  // after the same file has been opened again and has got it.
  void Forget() { fd_ = -1; }

 private:
  int fd_ = -1;
  FileIdentity identity_;
};

}  // namespace jprof
