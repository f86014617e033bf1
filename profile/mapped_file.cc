#include "profile/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "common/blocked_signals.h"

namespace jprof::profile {
namespace {

constexpr size_t kPage = MappedFile::kPage;
constexpr size_t kFirstStep = 64 * 1024;
constexpr size_t kLargestStep = 16 << 20;  // half of it is left when the next one is mapped

size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// Addresses without memory, which begin at a multiple of `alignment`; null: errno is set.
char* ReserveAddresses(size_t bytes, size_t alignment) {
  const size_t spare = alignment - kPage;
  void* const range =
      mmap(nullptr, bytes + spare, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(range);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % alignment;
  if (before != 0) munmap(begin, before);
  if (before != spare) munmap(begin + before + bytes, spare - before);
  return begin + before;
}

void Fill(char* memory, size_t bytes, std::span<const char> unit) {
  for (size_t at = 0; at < bytes; at += unit.size())
    std::memcpy(memory + at, unit.data(), unit.size());
}

// Memory with copies of `unit`, of which mremap makes further mappings; null: there is none.
constexpr size_t kCopies = 4 << 20;  // bytes; more would take memory, less would take mappings
void* CopiesOf(std::span<const char> unit) {
  void* const memory =
      mmap(nullptr, kCopies, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  Fill(static_cast<char*>(memory), kCopies, unit);
  return memory;
}

// Replaces mapped memory by copies of `unit`. Threads may be using it: each access finds the old
// memory or the new one.
void Repeat(char* begin, size_t bytes, std::span<const char> unit) {
  static void* const copies = CopiesOf(unit);
  for (size_t at = 0; at < bytes; at += kCopies) {
    const size_t part = std::min(kCopies, bytes - at);
    // From size 0: a further mapping of the same memory.
    if (copies != nullptr &&
        mremap(copies, 0, part, MREMAP_MAYMOVE | MREMAP_FIXED, begin + at) != MAP_FAILED)
      continue;
    void* const own =
        mmap(nullptr, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) continue;  // it stays the profile's file
    Fill(static_cast<char*>(own), part, unit);
    mremap(own, part, part, MREMAP_MAYMOVE | MREMAP_FIXED, begin + at);
  }
}

// On tmpfs any pending signal ends the call and undoes its work. With a profiling timer the call
// would never complete, so signals are blocked.
int Reserve(int fd, size_t begin, size_t bytes) {
  const BlockedSignals blocked;
  int error;
  do {
    error = posix_fallocate(fd, begin, bytes);
  } while (error == EINTR);
  return error;
}

}  // namespace

bool MappedFile::Create(int dir_fd, const char* name, size_t max_bytes, size_t alignment) {
  fd_.Reset(openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd_) return false;
  reserved_ = RoundUp(max_bytes, kPage);
  base_ = ReserveAddresses(reserved_, alignment);
  if (base_ != nullptr) return true;
  const int error = errno;
  Close();
  errno = error;
  return false;
}

bool MappedFile::Ensure(size_t bytes) {
  const size_t mapped = size();
  if (bytes > mapped) {
    if (!fd_ || bytes > reserved_) return false;
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
  if (const int error = Reserve(fd_.get(), mapped, target - mapped); error != 0) {
    errno = error;
    return false;
  }
  if (mmap(base_ + mapped, target - mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           fd_.get(), mapped) == MAP_FAILED) {
    return false;
  }
  mapped_.store(target, std::memory_order_release);
  return true;
}

void MappedFile::Close() {
  if (base_ != nullptr) munmap(base_, reserved_);
  fd_.Reset();
  base_ = nullptr;
  reserved_ = mapped_ = 0;
}

void MappedFile::CloseButKeep(size_t bytes, std::span<const char> unit) {
  const size_t kept = std::min(RoundUp(bytes, kPage), size());
  if (kept != 0) {
    Repeat(base_, kept, unit);
    munmap(base_ + kept, reserved_ - kept);
    base_ = nullptr;
  }
  Close();
}

}  // namespace jprof::profile
