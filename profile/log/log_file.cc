#include "profile/log/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "common/errno_text.h"
#include "common/private_file.h"

namespace jprof::profile {

LogWriter::~LogWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

Result<void> LogWriter::Open(const std::string& path, const LogFormat& format, LogHeader header) {
  path_ = path;
  file_ = OpenPrivate(path.c_str());
  if (file_ == nullptr) return Fail("cannot write {}: {}", path, ErrnoText());
  std::memcpy(header.magic, format.magic.data(), sizeof(header.magic));
  header.version = format.version;
  if (std::fwrite(&header, sizeof(header), 1, file_) != 1)
    return Fail("cannot write {}: {}", path, ErrnoText());
  return {};
}

void LogWriter::Write(const void* bytes, size_t count) {
  if (file_ == nullptr || error_ != 0 || count == 0) return;
  if (std::fwrite(bytes, 1, count, file_) != count) error_ = errno != 0 ? errno : EIO;
}

Result<void> LogWriter::Close() {
  if (file_ == nullptr) return {};
  if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
  file_ = nullptr;
  if (error_ != 0) return Fail("{} is not complete: {}", path_, ErrnoText(error_));
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
