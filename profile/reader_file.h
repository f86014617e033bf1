// One file of a profile, read by position and copied: never mapped, so a file that shrinks while it
// is read is a short read instead of a SIGBUS, and every byte of a profile still being written is
// read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/fd.h"

namespace jprof::profile {

class ReaderFile {
 public:
  ReaderFile() = default;
  // `name` inside the directory `dir_fd`. Not a regular file or not readable: exists() is false.
  ReaderFile(int dir_fd, const char* name);

  bool exists() const { return static_cast<bool>(fd_); }
  uint64_t size() const { return size_; }  // when it was opened
  // Of these, how many the file system has allocated blocks for.
  uint64_t allocated() const { return allocated_; }

  // Copies [offset, offset + bytes) and returns how much of it there is.
  size_t ReadAt(uint64_t offset, void* out, size_t bytes) const;

  // At most `limit` bytes, for files that are written from their begin to their end: they hold no
  // MiB of zeros (but a stub's unused code may be some 100 KiB of them). A sparse file may be
  // longer than all memory, so it ends here where such a piece begins.
  std::string ReadAll(uint64_t limit) const;

  // The first offset from `offset` on where anything but zeros may be; size() if there is none.
  // Asks the file system only about files that are longer than their blocks, and never of a live
  // profile's, whose blocks are reserved.
  uint64_t NextData(uint64_t offset) const;

 private:
  Fd fd_;
  uint64_t size_ = 0;
  uint64_t allocated_ = 0;
};

}  // namespace jprof::profile
