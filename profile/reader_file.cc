#include "profile/reader_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace jprof::profile {

ReaderFile::ReaderFile(int dir_fd, const char* name) {
  // O_NONBLOCK: a FIFO of that name must not hang the report.
  fd_ = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status = {};
  if (fd_ < 0) return;
  if (fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
  } else {
    close(std::exchange(fd_, -1));
  }
}

ReaderFile::ReaderFile(ReaderFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), size_(std::exchange(other.size_, 0)) {}

ReaderFile& ReaderFile::operator=(ReaderFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

ReaderFile::~ReaderFile() {
  if (fd_ >= 0) close(fd_);
}

size_t ReaderFile::ReadAt(uint64_t offset, void* out, size_t bytes) const {
  size_t done = 0;
  while (fd_ >= 0 && done < bytes) {
    const ssize_t got = pread(fd_, static_cast<char*>(out) + done, bytes - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

std::string ReaderFile::ReadAll(uint64_t limit) const {
  std::string text(std::min(size_, limit), '\0');
  text.resize(ReadAt(0, text.data(), text.size()));
  return text;
}

}  // namespace jprof::profile
