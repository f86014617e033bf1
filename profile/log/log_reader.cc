#include "profile/log/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "common/bytes.h"
#include "common/errno_text.h"
#include "profile/files/damage.h"
#include "profile/read/reader_file.h"
#include "profile/read/reading_memory.h"

namespace jprof::profile {
namespace {

Result<LogHeader> TakeHeader(ByteCursor& rest, const LogFormat& format, const std::string& name) {
  const auto header = rest.Read<LogHeader>();
  if (!rest.ok() || format.magic != std::string_view(header.magic, sizeof(header.magic)))
    return Fail("{} is not {}", name, format.name);
  if (header.version != format.version) {
    return WrongUse("{} has version {}, this jprof reads {}: {} with this jprof", name,
                    header.version, format.version, format.again);
  }
  return header;
}

// Walks the packets of one log.
class Walk {
 public:
  Walk(const LogBytes& log, const UsePacket& use) : log_(log), use_(use), rest_(log.bytes) {}

  Result<LogSummary> Run(const LogFormat& format) {
    const auto header = TakeHeader(rest_, format, log_.name);
    if (!header) return std::unexpected(header.error());
    summary_.header = *header;
    summary_.end_ns = header->start_ns;
    while (!summary_.ended && TakePacket()) {
    }
    NameRest(format.live);
    summary_.damages = damages_.Lines();
    return std::move(summary_);
  }

 private:
  size_t Offset() const { return log_.bytes.size() - rest_.left(); }

  // Returns false if there is no packet, as where a file has zeros only.
  bool TakePacket() {
    ByteCursor next = rest_;
    const auto packet = next.Read<LogPacket>();
    const std::string_view content = next.ReadBytes(packet.bytes);
    const bool intact = IsIntact(packet, content), last = content.empty();
    if (!next.ok() || packet.bytes % 8 != 0 || (last && !intact)) return false;
    if (last) {
      End(packet);
    } else if (intact && use_(packet, content)) {
      Count(packet);
      summary_.records += packet.records;
    } else {
      damaged_ = true;
      damages_.Add(log_.name + ": damaged records are left out",
                   fmt::format("{} at byte {}", packet.records, Offset()));
    }
    rest_ = next;
    return true;
  }

  void Count(const LogPacket& packet) {
    summary_.end_ns = std::max(summary_.end_ns, packet.end_ns);
    summary_.discarded = std::max(summary_.discarded, packet.discarded);
  }

  void End(const LogPacket& packet) {
    Count(packet);
    summary_.ended = true;
    const uint32_t missing = packet.records - static_cast<uint32_t>(summary_.records);
    if (!damaged_ && missing != 0)
      damages_.Add(fmt::format("{}: {} records are missing", log_.name, missing));
  }

  void NameRest(bool live) {
    const uint64_t size = log_.bytes.size() + log_.unread;
    const bool complete = Offset() == size;
    if (summary_.ended && !complete) {
      damages_.Add(fmt::format("{}: {} bytes after its end", log_.name, size - Offset()));
    } else if (!summary_.ended && !(live && complete)) {
      damages_.Add(fmt::format("{}: cut off or damaged after {} records ({} of {} bytes read)",
                               log_.name, summary_.records, Offset(), size));
    }
  }

  const LogBytes& log_;
  const UsePacket& use_;
  ByteCursor rest_;
  LogSummary summary_;
  Damages damages_;
  bool damaged_ = false;  // packets were left out
};

}  // namespace

Result<LogBytes> ReadLogFile(const std::string& path, uint64_t memory, uint64_t memory_per_byte) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return Fail("cannot read {}: {}", path, ErrnoText());
  if (!S_ISREG(status.st_mode)) return Fail("{} is not a regular file", path);
  const ReaderFile file(AT_FDCWD, path.c_str());
  if (!file.exists()) return Fail("cannot read {}: {}", path, ErrnoText());
  const uint64_t longest = memory / memory_per_byte;
  if (std::min(file.size(), file.allocated()) > longest) return NotEnoughMemory(path, memory);
  LogBytes log{.bytes = file.ReadAll(longest), .name = path};
  log.unread = file.size() - log.bytes.size();
  if (log.unread > 0 && log.bytes.size() == longest) return NotEnoughMemory(path, memory);
  return log;
}

Result<LogSummary> ReadPackets(const LogBytes& log, const LogFormat& format, const UsePacket& use) {
  return Walk(log, use).Run(format);
}

}  // namespace jprof::profile
