#include "profile/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "common/blocked_signals.h"
#include "common/no_file_size_signal.h"

namespace jprof::profile {
namespace {

constexpr size_t kPage = MappedFile::kPage;
constexpr size_t kFirstStep = 64 * 1024;
constexpr size_t kLargestStep = 16 << 20;  // half of it is left when the next one is mapped

size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// Reserves space in a file. On tmpfs any pending signal ends the call and undoes its work. With a
// profiling timer the call would never complete, so the caller blocks signals.
int Reserve(int fd, size_t begin, size_t bytes) {
  const NoFileSizeSignal in_silence;
  int error;
  do {
    error = posix_fallocate(fd, begin, bytes);
  } while (error == EINTR);
  return error;
}

}  // namespace

char* ReserveAddresses(size_t bytes, AddressRange within) {
  constexpr uint64_t kStep = 64 << 20;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (within.end == 0) {
    void* const range = mmap(nullptr, bytes, PROT_NONE, kFlags, -1, 0);
    return range != MAP_FAILED ? static_cast<char*>(range) : nullptr;
  }
  for (uint64_t at = within.begin; at + bytes <= within.end; at += kStep) {
    void* const begin = reinterpret_cast<void*>(at);
    void* const range = mmap(begin, bytes, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (range == begin) return static_cast<char*>(range);
    if (range != MAP_FAILED) munmap(range, bytes);  // by a kernel before 4.17
  }
  errno = ENOMEM;
  return nullptr;
}

bool MappedFile::Create(int dir_fd, const char* name, size_t max_bytes, AddressRange within) {
  if (!file_.Open(dir_fd, name, O_RDWR | O_CREAT | O_EXCL)) return false;
  reserved_ = RoundUp(max_bytes, kPage);
  base_ = ReserveAddresses(reserved_, within);
  if (base_ != nullptr) return true;
  const int error = errno;
  unlinkat(dir_fd, name, 0);
  Close();
  errno = error;
  return false;
}

bool MappedFile::Ensure(size_t bytes) {
  const size_t mapped = size();
  if (bytes > mapped) {
    errno = 0;
    if (!file_ || bytes > reserved_) return false;
    std::lock_guard growing(growing_);
    return bytes <= size() || Extend(std::max(bytes, NextStep())) || Extend(bytes);
  }
  const bool little_left = bytes > mapped - std::min(mapped / 4, kLargestStep / 2);
  if (little_left && !no_step_left_ && growing_.try_lock()) {
    if (size() == mapped && !Extend(NextStep())) no_step_left_ = true;
    growing_.unlock();
  }
  return true;
}

// Steps grow with the file: a small profile stays small, and a large one is mapped in few pieces.
size_t MappedFile::NextStep() const {
  const size_t mapped = size();
  return std::min(mapped + std::clamp(mapped, kFirstStep, kLargestStep), reserved_);
}

bool MappedFile::Extend(size_t bytes) {
  const size_t mapped = size(), target = RoundUp(bytes, kPage);
  if (target == mapped) return true;
  const BlockedSignals blocked;  // a handler could close the descriptor
  const int fd = file_.Get();
  if (fd < 0) return false;
  if (const int error = Reserve(fd, mapped, target - mapped); error != 0) {
    errno = error;
    return false;
  }
  if (mmap(base_ + mapped, target - mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
           mapped) == MAP_FAILED) {
    return false;
  }
  mapped_.store(target, std::memory_order_release);
  return true;
}

void MappedFile::Close() {
  if (base_ != nullptr) munmap(base_, reserved_);
  file_.Close();
  base_ = nullptr;
  reserved_ = mapped_ = 0;
}

void MappedFile::CloseButZero(size_t bytes) {
  const size_t kept = std::min(RoundUp(bytes, kPage), size());
  if (kept != 0) {
    mmap(base_, kept, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    munmap(base_ + kept, reserved_ - kept);
    base_ = nullptr;
  }
  Close();
}

}  // namespace jprof::profile
