// Writes a log (profile/log/log_format.h) outside the profiled process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/fd.h"
#include "common/result.h"
#include "profile/log/log_format.h"

namespace jprof::profile {

// Keeps the first error, which Close returns, so that callers need not check each packet. Does
// nothing if the file is not open.
class LogWriter {
 public:
  // Makes the file and writes the header, whose magic and version are those of the format. Fails if
  // either is not possible.
  Result<void> Open(const std::string& path, const LogFormat& format, const LogHeader& header);
  // Appends a packet. Sets its `discarded`, `bytes` and `check`.
  void Write(LogPacket packet, std::string_view content);
  // Counts records that are lost before they could be written.
  void Discard(uint64_t records) { discarded_ += records; }
  // Appends the packet that ends the log and closes the file. Fails if something could not be
  // written.
  Result<void> Close(uint64_t end_ns);

 private:
  Fd file_;
  std::string path_;
  int error_ = 0;  // as errno; 0 if there was none
  uint64_t records_ = 0, discarded_ = 0;
};

}  // namespace jprof::profile
