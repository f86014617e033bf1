// One file of a profile, read by position and copied: never mapped, so a file that shrinks while it is read
// is a short read instead of a SIGBUS, and every byte of a profile still being written is read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace jprof::profile {

class ReaderFile {
 public:
  ReaderFile() = default;
  // `name` inside the directory `dir_fd`. Not a regular file or not readable: exists() is false.
  ReaderFile(int dir_fd, const char* name);
  ReaderFile(ReaderFile&& other) noexcept;
  ReaderFile& operator=(ReaderFile&& other) noexcept;
  ~ReaderFile();

  bool exists() const { return fd_ >= 0; }
  uint64_t size() const { return size_; }  // when it was opened

  // Copies [offset, offset + bytes) and answers how much of it there is.
  size_t ReadAt(uint64_t offset, void* out, size_t bytes) const;

  // The whole file, at most `limit` bytes of it.
  std::string ReadAll(uint64_t limit) const;

 private:
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace jprof::profile
