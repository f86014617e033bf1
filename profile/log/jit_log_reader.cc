// Parses the file described in jit_log.h.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "common/bytes.h"
#include "profile/files/layout.h"
#include "profile/log/jit_log.h"
#include "profile/read/reading_memory.h"

namespace jprof::profile {
namespace {

// Reading needs memory for the file, and for each record of about 100 bytes or more an event and a
// code of 150 bytes each.
constexpr uint64_t kMemoryPerLogByte = 4;

uint64_t EndOf(const JitCode& code) { return code.address + code.length; }

bool SameCode(const JitCode& a, const JitCode& b) {
  return a.address == b.address && a.length == b.length && a.stub == b.stub && a.type == b.type &&
         a.level == b.level && a.name == b.name && a.class_name == b.class_name &&
         a.signature == b.signature;
}

// Stores the time at which the previous code at an address ended, as address ranges that do not
// overlap.
class Ends {
 public:
  // Requires that `time` is not below any before.
  void Set(uint64_t begin, uint64_t end, uint64_t time) {
    Cut(begin);
    Cut(end);
    pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
    pieces_[begin] = {end, time};
  }

  uint64_t Latest(uint64_t begin, uint64_t end) const {
    uint64_t latest = 0;
    auto piece = pieces_.lower_bound(begin);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > begin) --piece;
    for (; piece != pieces_.end() && piece->first < end; ++piece)
      latest = std::max(latest, piece->second.time);
    return latest;
  }

 private:
  struct Piece {
    uint64_t end, time;
  };

  void Cut(uint64_t at) {
    const auto next = pieces_.lower_bound(at);
    if (next == pieces_.begin()) return;
    Piece& before = std::prev(next)->second;
    if (before.end <= at) return;
    pieces_.emplace_hint(next, at, Piece{before.end, before.time});
    before.end = at;
  }

  std::map<uint64_t, Piece> pieces_;  // by their begin
};

// Collects the threads. Threads begin, get names and end; the kernel reuses the tid for another
// thread.
class Threads {
 public:
  void Add(uint32_t tid, uint16_t event, uint64_t time, std::string_view name) {
    const auto found = open_.find(tid);
    const bool known = found != open_.end();
    if (event == kJitNamed && known) {
      threads_[found->second].name = name;
    } else if (event == kJitThreadEnded) {
      if (!known) return;
      threads_[found->second].end = time;
      ended_[tid] = time;
      open_.erase(found);
    } else {
      if (known) threads_[found->second].end = ended_[tid] = time;
      const auto before = ended_.find(tid);
      const uint64_t begin = event == kJitBegan       ? time
                             : before != ended_.end() ? before->second
                                                      : 0;
      open_[tid] = threads_.size();
      threads_.push_back({tid, begin, kJitForever, name});
    }
  }
  std::vector<JitThread> Take() { return std::move(threads_); }

 private:
  std::vector<JitThread> threads_;
  std::unordered_map<uint32_t, size_t> open_;
  std::unordered_map<uint32_t, uint64_t> ended_;
};

// Copies `count` elements out of a record, which is aligned to 8 bytes.
template <typename T>
std::span<const T> ReadArray(ByteCursor& record, uint64_t count) {
  const std::string_view bytes = record.ReadBytes(count * sizeof(T));
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

bool ReadCode(ByteCursor content, JitEvent* event) {
  const auto record = content.Read<JitCodeRecord>();
  JitCode& out = event->code;
  out.lines = ReadArray<JitLine>(content, record.line_count);
  out.code = ReadArray<uint8_t>(content, record.code_length);
  out.class_name = content.ReadBytes(record.class_length);
  out.name = content.ReadBytes(record.name_length);
  out.signature = content.ReadBytes(record.signature_length);
  out.source = content.ReadBytes(record.source_length);
  if (!content.ok()) return false;
  out.address = record.address;
  out.length = record.length;
  out.stub = record.record.kind == JitKind::kStub;
  out.type = record.type;
  out.level = record.level;
  event->again = (record.record.flags & kJitAgain) != 0;
  return record.length > 0 && record.address + record.length > record.address &&
         out.code.size() <= record.length && std::strchr("JRNIO", record.type) != nullptr &&
         record.type != '\0' && std::ranges::is_sorted(out.lines, {}, &JitLine::offset);
}

// Parses the records of a file.
class Parser {
 public:
  // Returns false if the record does not fit.
  bool Use(const LogPacket& packet, std::string_view content) {
    if (packet.records != 1) return false;
    ByteCursor record(content);
    JitEvent event{.time = packet.begin_ns};
    switch (ByteCursor(record).Read<JitRecord>().kind) {
      case JitKind::kLoad:
      case JitKind::kStub:
        if (!ReadCode(record, &event)) return false;
        events_.push_back(event);
        return true;
      case JitKind::kUnload:
        event.unload = true;
        event.code.address = record.Read<JitUnloadRecord>().address;
        if (!record.ok()) return false;
        events_.push_back(event);
        return true;
      case JitKind::kThread: {
        const auto thread = record.Read<JitThreadRecord>();
        const std::string_view name = record.ReadBytes(thread.name_length);
        if (!record.ok() || thread.event < kJitBegan || thread.event > kJitThreadEnded)
          return false;
        threads_.Add(packet.tid, thread.event, packet.begin_ns, name);
        return true;
      }
    }
    return true;  // an unknown kind
  }

  void FinishTo(JitLog& log) {
    log.code = JitIntervals(events_);
    log.threads = threads_.Take();
    if (log.discarded > 0) {
      log.damages.push_back(
          fmt::format("{}: the disk was full: {} records are lost", kJitLogFile, log.discarded));
    }
  }

 private:
  std::vector<JitEvent> events_;
  Threads threads_;
};

// Parses the content of a file.
Result<JitLog> Parse(LogBytes bytes) {
  JitLog log;
  log.file = std::make_shared<const LogBytes>(std::move(bytes));
  Parser parser;
  auto summary = ReadPackets(*log.file, kJitFormat,
                             [&parser](const LogPacket& packet, std::string_view content) {
                               return parser.Use(packet, content);
                             });
  if (!summary) return std::unexpected(summary.error());
  static_cast<LogSummary&>(log) = *std::move(summary);
  parser.FinishTo(log);
  return log;
}

}  // namespace

std::vector<JitCode> JitIntervals(std::span<const JitEvent> events) {
  std::vector<JitCode> all;
  std::map<uint64_t, size_t> standing;  // begin -> index in `all`; they do not overlap
  Ends ends;
  uint64_t now = 0;
  const auto remove = [&](std::map<uint64_t, size_t>::iterator which) {
    JitCode& code = all[which->second];
    code.unloaded = now;
    ends.Set(code.address, EndOf(code), now);
    return standing.erase(which);
  };
  for (const JitEvent& event : events) {
    now = std::max(now, event.time);
    const uint64_t begin = event.code.address;
    if (event.unload) {
      const auto found = standing.find(begin);
      if (found != standing.end()) remove(found);
      continue;
    }
    auto first = standing.lower_bound(begin);
    if (first != standing.begin() && EndOf(all[std::prev(first)->second]) > begin) --first;
    const bool taken = first != standing.end() && first->first < EndOf(event.code);
    if (taken && (event.again || SameCode(all[first->second], event.code))) continue;
    while (first != standing.end() && first->first < EndOf(event.code)) first = remove(first);
    JitCode code = event.code;
    code.loaded = ends.Latest(begin, EndOf(code));
    code.unloaded = kJitForever;
    standing.emplace(begin, all.size());
    all.push_back(code);
  }
  std::erase_if(all, [](const JitCode& code) { return code.loaded >= code.unloaded; });
  return all;
}

Result<JitLog> ParseJitLog(std::string bytes) { return Parse({std::move(bytes), kJitLogFile}); }

Result<JitLog> ReadJitLog(const std::string& directory) {
  const std::string path = directory + "/" + kJitLogFile;
  if (access(path.c_str(), F_OK) != 0) {
    return Fail("{}: has no log of jitted code ('{}'); record with the agent's option TPROF",
                directory, kJitLogFile);
  }
  auto file = ReadLogFile(path, ReadingMemory(), kMemoryPerLogByte);
  if (!file) return std::unexpected(file.error());
  file->name = kJitLogFile;
  auto log = Parse(*std::move(file));
  if (!log) return std::unexpected(Error{directory + ": " + log.error().message, log.error().kind});
  return log;
}

}  // namespace jprof::profile
