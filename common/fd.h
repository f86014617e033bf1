// A file descriptor that closes itself. It is negative if there is none.
#pragma once

#include <unistd.h>

#include <utility>

namespace jprof {

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~Fd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  // Returns the descriptor; the caller becomes responsible for closing it.
  int Release() { return std::exchange(fd_, -1); }

  // Closes the descriptor and owns `fd` instead. The number is replaced before the descriptor is
  // closed: a child that is forked in between does not close a number twice.
  void Reset(int fd = -1) {
    const int old = std::exchange(fd_, fd);
    if (old >= 0) close(old);
  }

 private:
  int fd_;
};

}  // namespace jprof
