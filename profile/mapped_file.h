// A file that grows under one fixed address range: the range is reserved once, the file is mapped
// into it piece by piece. Every piece is reserved on disk (posix_fallocate) before it is mapped: a
// hole on a full disk would be a SIGBUS in somebody's JVM. Pointers into it stay valid until Close.
// Growing is not thread safe; callers lock. Nothing here throws.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jprof::profile {

class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { Close(); }

  // Creates `name` in the directory `dir_fd` and reserves `max_bytes` of addresses. False: errno
  // tells.
  bool Create(int dir_fd, const char* name, size_t max_bytes);

  // Makes [0, bytes) usable; grows in steps. False when the disk is full or `max_bytes` is passed.
  bool Ensure(size_t bytes);

  // Unmaps; what was written stays on disk.
  void Close();

  char* data() const { return base_; }
  size_t size() const { return mapped_; }
  bool open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
  char* base_ = nullptr;
  size_t reserved_ = 0;
  size_t mapped_ = 0;
};

}  // namespace jprof::profile
