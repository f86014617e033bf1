#include "profile/log/log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/errno_text.h"
#include "common/private_file.h"

namespace jprof::profile {

Result<void> LogWriter::Open(const std::string& path, const LogFormat& format,
                             const LogHeader& header) {
  path_ = path;
  Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivateFile));
  if (!file || !WriteHeader(file.get(), format, header))
    return Fail("cannot write {}: {}", path, ErrnoText());
  file_ = std::move(file);
  return {};
}

void LogWriter::Write(LogPacket packet, std::string_view content) {
  if (!file_ || error_ != 0) return;
  packet.discarded = discarded_;
  if (WritePacket(file_.get(), packet, {&content, 1})) {
    records_ += packet.records;
  } else {
    error_ = errno;
  }
}

Result<void> LogWriter::Close(uint64_t end_ns) {
  if (!file_) return {};
  Write({.records = static_cast<uint32_t>(records_), .begin_ns = end_ns, .end_ns = end_ns}, {});
  if (close(file_.Release()) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) return Fail("{} is not complete: {}", path_, ErrnoText(error_));
  return {};
}

}  // namespace jprof::profile
