#include "profile/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace jprof::profile {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kFirstStep = 64 * 1024;
constexpr size_t kLargestStep = 16 << 20;

size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

bool MappedFile::Create(int dir_fd, const char* name, size_t max_bytes) {
  fd_ = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) return false;
  reserved_ = RoundUp(max_bytes, kPage);
  void* range =
      mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    const int error = errno;
    Close();
    errno = error;
    return false;
  }
  base_ = static_cast<char*>(range);
  return true;
}

bool MappedFile::Ensure(size_t bytes) {
  if (bytes <= mapped_) return true;
  if (fd_ < 0 || bytes > reserved_) return false;
  // Steps grow with the file, so that a small profile stays small and a large one is mapped in few
  // pieces.
  const size_t step = std::clamp(mapped_, kFirstStep, kLargestStep);
  size_t target = std::min(RoundUp(std::max(bytes, mapped_ + step), kPage), reserved_);
  int error = posix_fallocate(fd_, mapped_, target - mapped_);
  if (error != 0 && target > RoundUp(bytes, kPage)) {
    target = RoundUp(bytes, kPage);
    error = posix_fallocate(fd_, mapped_, target - mapped_);
  }
  if (error != 0) {
    errno = error;
    return false;
  }
  if (mmap(base_ + mapped_, target - mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_,
           mapped_) == MAP_FAILED) {
    return false;
  }
  mapped_ = target;
  return true;
}

void MappedFile::Close() {
  if (base_ != nullptr) munmap(base_, reserved_);
  if (fd_ >= 0) close(fd_);
  base_ = nullptr;
  fd_ = -1;
  reserved_ = mapped_ = 0;
}

}  // namespace jprof::profile
