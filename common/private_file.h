// The modes of everything that a recording consists of. It contains command lines, addresses of the
// kernel and samples of all users' processes, so that only its owner may read it, as with perf.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace jprof {

inline constexpr mode_t kPrivateFile = 0600;
inline constexpr mode_t kPrivateDirectory = 0700;

// Returns a stream that writes a new or emptied private file, or null with errno set. `more` are
// further flags of open(2), for example O_EXCL.
inline std::FILE* OpenPrivate(const char* path, int more = 0) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | more, kPrivateFile);
  if (fd < 0) return nullptr;
  std::FILE* const file = fdopen(fd, "wb");
  if (file == nullptr) {
    const int error = errno;
    close(fd);
    errno = error;
  }
  return file;
}

}  // namespace jprof
