// A new file that is written from its beginning to its end.
#pragma once

#include <fcntl.h>

#include <cstdio>
#include <string>

#include "common/result.h"

namespace jprof::profile {

// Buffers what is written. Errors are kept and returned by Close, so that writers need not check
// each call.
class OutFile {
 public:
  // Replaces the content of a file that exists, unless `flags` has O_EXCL.
  explicit OutFile(const std::string& path, int flags = O_EXCL);
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;
  ~OutFile();

  void Write(const void* bytes, size_t count);
  template <typename T>
  void Write(const T& value) {
    Write(&value, sizeof value);
  }

  bool failed() const { return error_ != 0; }
  int error() const { return error_; }  // the first one, as errno; 0 if there was none
  // Fails if something could not be written; the message names the file.
  Result<void> Close();

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
  int error_ = 0;
};

}  // namespace jprof::profile
