// Reads a log (profile/log/log_format.h), which is untrusted: what is damaged is left out and
// named.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/log/log_format.h"

namespace jprof::profile {

// Contains the file of a log, up to where it was read.
struct LogBytes {
  std::string bytes;    // aligned to 8, unless it is shorter than a header
  std::string name;     // of the file, for messages
  uint64_t unread = 0;  // bytes of the file that follow

  size_t OffsetOf(std::string_view part) const {
    return static_cast<size_t>(part.data() - bytes.data());
  }
};

// Reads a file. Fails if it does not exist or is no regular file, or if `memory` does not suffice
// for `memory_per_byte` bytes for each byte of the file. Stops reading at a MiB of zeros.
Result<LogBytes> ReadLogFile(const std::string& path, uint64_t memory, uint64_t memory_per_byte);

// Describes a log that was read.
struct LogSummary {
  LogHeader header;
  bool ended = false;    // the log is complete
  uint64_t records = 0;  // in all packets that are intact
  uint64_t end_ns = 0;   // the end of the log, or the latest time in it; `start_ns` if it has none
  uint64_t discarded = 0;  // records that could not be written, as far as known
  std::vector<std::string> damages;
};

// Uses the content of a packet that was not changed since it was written. Returns false, and uses
// nothing of it, if it cannot be decoded.
using UsePacket = std::function<bool(const LogPacket& packet, std::string_view content)>;

// Passes the packets that are intact to `use`, in the order of the file. A packet that is damaged
// is left out and named. Reading ends where no packet can be found. Fails if the log is not of this
// format and version.
Result<LogSummary> ReadPackets(const LogBytes& log, const LogFormat& format, const UsePacket& use);

}  // namespace jprof::profile
