// Writes and keeps logs whose packets are each of one thread (profile/log/branch_log.h,
// profile/log/memory_log.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/result.h"
#include "profile/log/log_reader.h"
#include "profile/log/log_writer.h"

namespace jprof::profile {

// Returns a key of a thread for maps.
inline uint64_t ThreadKey(uint32_t pid, uint32_t tid) { return uint64_t{pid} << 32 | tid; }

// Collects the packets of all threads. `State` is what the records of a packet refer to; it is
// reset after each. A packet's content has at most `kBytes` bytes.
template <typename State, size_t kBytes>
class ThreadPackets {
 public:
  // Contains the packet of a thread that is not written yet.
  struct Pending {
    LogPacket packet;
    State state;
    std::unique_ptr<char[]> bytes = std::make_unique_for_overwrite<char[]>(kBytes);
    char* end = bytes.get();
    size_t left() const { return kBytes - static_cast<size_t>(end - bytes.get()); }
  };

  Result<void> Open(const std::string& path, const LogFormat& format, const LogHeader& header) {
    return file_.Open(path, format, header);
  }
  Pending& Of(uint32_t pid, uint32_t tid) {
    if (last_ != nullptr && last_->packet.tid == tid && last_->packet.pid == pid) return *last_;
    auto& pending = pending_[ThreadKey(pid, tid)];
    if (!pending) {
      pending = std::make_unique<Pending>();
      pending->packet.pid = pid;
      pending->packet.tid = tid;
    }
    last_ = pending.get();
    return *last_;
  }
  // Writes the packet, if it has records, and begins the thread's next one.
  void Flush(Pending& pending) {
    if (pending.packet.records == 0) return;
    file_.Write(pending.packet, std::string_view(pending.bytes.get(), pending.end));
    pending.packet.records = 0;
    pending.state = {};
    pending.end = pending.bytes.get();
  }
  // Writes what is buffered and the end, and closes the file. Fails if something could not be
  // written.
  Result<void> Close(uint64_t end_ns) {
    for (auto& [thread, pending] : pending_) Flush(*pending);
    return file_.Close(end_ns);
  }

 private:
  LogWriter file_;
  std::unordered_map<uint64_t, std::unique_ptr<Pending>> pending_;  // by pid and tid
  Pending* last_ = nullptr;
};

// Keeps a log in memory as it is in the file, without packets that are damaged.
class PacketLog {
 public:
  const LogHeader& header() const { return summary_.header; }
  uint64_t records() const { return summary_.records; }
  uint64_t end_ns() const { return summary_.end_ns; }
  uint64_t discarded() const { return summary_.discarded; }
  bool ended() const { return summary_.ended; }  // its writer has closed it
  // Names the parts that are damaged and left out.
  const std::vector<std::string>& damages() const { return summary_.damages; }

 protected:
  // Keeps the packets that `decodes` accepts. Fails if the log is not of this format and version.
  Result<void> Keep(LogBytes file, const LogFormat& format, const UsePacket& decodes) {
    auto summary =
        ReadPackets(file, format, [&](const LogPacket& packet, std::string_view content) {
          if (!decodes(packet, content)) return false;
          packets_.push_back(file.OffsetOf(content) - sizeof(LogPacket));
          return true;
        });
    if (!summary) return std::unexpected(summary.error());
    summary_ = *std::move(summary);
    bytes_ = std::move(file.bytes);
    return {};
  }
  // Returns the content of a packet that was kept; the first one is number 0.
  std::string_view ContentOf(size_t number) const {
    ByteCursor in(std::string_view(bytes_).substr(packets_[number]));
    const auto packet = in.Read<LogPacket>();
    return in.ReadBytes(packet.bytes);
  }
  // Calls `use` with each packet that was kept, in the order of the file.
  template <typename Use>
  void ForEachPacket(Use use) const {
    for (const size_t offset : packets_) {
      ByteCursor in(std::string_view(bytes_).substr(offset));
      const auto packet = in.Read<LogPacket>();
      use(packet, in.ReadBytes(packet.bytes));
    }
  }

 private:
  std::string bytes_;            // the file
  std::vector<size_t> packets_;  // offsets of the intact ones
  LogSummary summary_;
};

}  // namespace jprof::profile
