#include "profile/log/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "common/errno_text.h"

namespace jprof::profile {

Result<void> LogWriter::Open(const std::string& path, const LogFormat& format, LogHeader header) {
  path_ = path;
  file_.emplace(path, 0);
  std::memcpy(header.magic, format.magic.data(), sizeof(header.magic));
  header.version = format.version;
  file_->Write(header);
  if (!file_->failed()) return {};
  auto failed = file_->Close();
  file_.reset();
  return failed;
}

void LogWriter::Write(const void* bytes, size_t count) {
  if (file_) file_->Write(bytes, count);
}

Result<void> LogWriter::Close() {
  if (!file_) return {};
  (void)file_->Close();  // its message is about a file that could not be made
  const int error = file_->error();
  file_.reset();
  if (error != 0) return Fail("{} is not complete: {}", path_, ErrnoText(error));
  return {};
}

Result<ReaderFile> OpenLogFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return Fail("cannot read {}: {}", path, ErrnoText());
  if (!S_ISREG(status.st_mode)) return Fail("{} is not a regular file", path);
  ReaderFile file(AT_FDCWD, path.c_str());
  if (!file.exists()) return Fail("cannot read {}: {}", path, ErrnoText());
  return file;
}

Result<LogHeader> TakeLogHeader(ByteCursor& content, const LogFormat& format,
                                const std::string& name) {
  const auto header = content.Read<LogHeader>();
  if (!content.ok() || format.magic != std::string_view(header.magic, sizeof(header.magic)))
    return Fail("{} is not {}", name, format.name);
  if (header.version != format.version) {
    return Fail("{} has version {}, this jprof reads {}: {} with this jprof", name, header.version,
                format.version, format.again);
  }
  return header;
}

}  // namespace jprof::profile
