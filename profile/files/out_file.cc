#include "profile/files/out_file.h"

#include <cerrno>

#include "common/errno_text.h"
#include "common/private_file.h"

namespace jprof::profile {

OutFile::OutFile(const std::string& path, int flags)
    : path_(path), file_(OpenPrivate(path.c_str(), flags)) {
  if (file_ == nullptr) error_ = errno;
}

OutFile::~OutFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void OutFile::Write(const void* bytes, size_t count) {
  if (error_ == 0 && count != 0 && std::fwrite(bytes, 1, count, file_) != count)
    error_ = errno != 0 ? errno : EIO;
}

Result<void> OutFile::Close() {
  if (file_ != nullptr && std::fclose(file_) != 0 && error_ == 0) error_ = errno;
  file_ = nullptr;
  if (error_ == 0) return {};
  return Fail("cannot write {}: {}", path_, ErrnoText(error_));
}

}  // namespace jprof::profile
