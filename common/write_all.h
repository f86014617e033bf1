// Writes all bytes to a file descriptor that blocks.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace jprof {

// Returns 0 if everything was written, otherwise an errno.
inline int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// Does the same at an offset of a file.
inline int WriteAllAt(int fd, std::string_view bytes, off_t at) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), at);
    if (written < 0 && errno != EINTR) return errno;
    if (written == 0) return EIO;
    if (written < 0) continue;
    bytes.remove_prefix(static_cast<size_t>(written));
    at += written;
  }
  return 0;
}

// Does the same for a socket. A closed connection is an errno, EPIPE, and causes no signal.
inline int SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return errno;
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return 0;
}

}  // namespace jprof
