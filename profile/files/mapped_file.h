// A file that grows under one fixed address range: the range is reserved once, and the file is
// mapped into it piece by piece.
//
// - Every piece is reserved on disk (posix_fallocate) before it is mapped, because a hole on a full
//   disk would cause a SIGBUS in the JVM. On file systems that do not guarantee the reservation
//   (copy on write, compression), or if another process truncates the file, a SIGBUS remains
//   possible.
// - Pointers into it stay valid until Close.
// - It still works if the program closes the descriptor (kept_file.h); a limit on the size of files
//   causes an error, not a signal (common/no_file_size_signal.h).
// - Nothing here throws.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/sleep_lock.h"
#include "profile/files/kept_file.h"

namespace jprof::profile {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;  // 0 if anywhere
};

// Reserves addresses without memory. Returns null and sets errno if that fails.
char* ReserveAddresses(size_t bytes, AddressRange within = {});

class MappedFile {
 public:
  static constexpr size_t kPage = 4096;

  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { Close(); }

  // Creates `name` in the directory `dir_fd` and reserves `max_bytes` of addresses, within the
  // range if there is one. Returns false and sets errno if that fails.
  bool Create(int dir_fd, const char* name, size_t max_bytes, AddressRange within = {});

  // Makes [0, bytes) usable. Any thread may call it. Returns false and sets errno if that fails;
  // errno is 0 if `bytes` exceeds `max_bytes`. The file grows in steps: one thread takes the next
  // step when little is left. The others continue with the available bytes and sleep only if they
  // need bytes beyond those.
  bool Ensure(size_t bytes);

  // Unmaps the file. The written bytes stay on disk.
  void Close();

  // Does the same, but the first `bytes`, if any are mapped, can be read and written until the
  // process ends. They are zeros that do not belong to the file.
  void CloseButZero(size_t bytes);

  char* data() const { return base_; }
  size_t size() const { return mapped_.load(std::memory_order_acquire); }
  bool open() const { return static_cast<bool>(file_); }

 private:
  size_t NextStep() const;
  bool Extend(size_t target);  // requires `growing_`, as NextStep does

  KeptFile file_;
  char* base_ = nullptr;
  size_t reserved_ = 0;
  std::atomic<size_t> mapped_ = 0;
  std::atomic<bool> no_step_left_ = false;  // the disk is too full to grow ahead
  SleepLock growing_;
};

}  // namespace jprof::profile
