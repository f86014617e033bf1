// The bytes of a dump, mapped into memory. A dump that is compressed (`jcmd PID GC.heap_dump -gz`)
// is first expanded into a file without a name, on the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace jprof::heap {

class DumpFile {
 public:
  // Fails if the file cannot be read, or if there is no space to expand it. Of a damaged compressed
  // file, what can be expanded is kept, and damage() says what is wrong. `progress` is called with
  // the share that is expanded, and may be empty.
  static Result<DumpFile> Open(const std::string& path,
                               const std::function<void(double)>& progress);
  DumpFile(DumpFile&& other) noexcept;
  DumpFile& operator=(DumpFile&& other) noexcept;
  ~DumpFile();

  std::string_view bytes() const { return {data_, size_}; }
  uint64_t file_size() const { return file_size_; }  // as it is on the disk
  const std::string& damage() const { return damage_; }

  // Takes the pages out of this process's memory, so that a long dump does not fill it. They are
  // read again if they are used again.
  void Release() const;

 private:
  DumpFile() = default;
  Result<void> Map(int fd, const std::string& path);

  const char* data_ = nullptr;
  size_t size_ = 0;
  uint64_t file_size_ = 0;
  std::string damage_;
};

}  // namespace jprof::heap
