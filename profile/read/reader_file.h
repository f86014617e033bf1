// One file of a profile, read by position and copied. It is never mapped: a file that shrinks while
// it is read then causes a short read instead of a SIGBUS, and every byte of a live profile is read
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/fd.h"
#include "profile/files/damage.h"

namespace jprof::profile {

class ReaderFile {
 public:
  ReaderFile() = default;
  // Opens `name` inside the directory `dir_fd`. exists() is false if it is not a regular file or
  // cannot be opened. Unless `damages` is null, it must outlive this object; errors other than a
  // missing file are added to it, including those that occur while the file is read.
  ReaderFile(int dir_fd, const char* name, Damages* damages = nullptr);

  bool exists() const { return static_cast<bool>(fd_); }
  int error() const { return error_; }     // the errno if it could not be opened, else 0
  uint64_t size() const { return size_; }  // at the time of opening
  // The number of bytes for which the file system has allocated blocks.
  uint64_t allocated() const { return allocated_; }

  // Copies [offset, offset + bytes) and returns the number of bytes that could be read.
  size_t ReadAt(uint64_t offset, void* out, size_t bytes) const;

  // Reads at most `limit` bytes of a file that is written sequentially. Such a file holds no MiB of
  // zeros (but the unused code of a stub may hold some 100 KiB). A sparse file may be larger than
  // memory, so reading stops where such a run of zeros begins.
  std::string ReadAll(uint64_t limit) const;

  // Returns the first offset, from `offset` on, that may hold data other than zeros, or size() if
  // there is none. Queries the file system only for files that are longer than their blocks; the
  // blocks of a live profile are reserved, so it is never queried for one.
  uint64_t NextData(uint64_t offset) const;

 private:
  void Failed(int error) const;

  Fd fd_;
  int error_ = 0;
  std::string name_;
  Damages* damages_ = nullptr;
  uint64_t size_ = 0;
  uint64_t allocated_ = 0;
};

}  // namespace jprof::profile
