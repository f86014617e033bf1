// Writes all bytes to a file descriptor that blocks.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace jprof {

// Returns an errno; 0: everything was written.
inline int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace jprof
