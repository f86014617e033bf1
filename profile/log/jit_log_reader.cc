// Parses the file described in jit_log.h.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "common/bytes.h"
#include "common/fd.h"
#include "profile/files/damage.h"
#include "profile/files/layout.h"
#include "profile/log/jit_log.h"
#include "profile/read/reader_file.h"
#include "profile/read/reading_memory.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kLongestLog = 4ull << 30;
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

bool ReadCode(ByteCursor record, JitEvent* event) {
  const auto code = record.Read<JitCodeRecord>();
  JitCode& out = event->code;
  out.lines = ReadArray<JitLine>(record, code.line_count);
  out.code = ReadArray<uint8_t>(record, code.code_length);
  out.class_name = record.ReadBytes(code.class_length);
  out.name = record.ReadBytes(code.name_length);
  out.signature = record.ReadBytes(code.signature_length);
  out.source = record.ReadBytes(code.source_length);
  if (!record.ok()) return false;
  out.address = code.address;
  out.length = code.length;
  out.stub = code.record.kind == JitKind::kStub;
  out.type = code.type;
  out.level = code.level;
  event->time = code.record.time;
  event->again = (code.record.flags & kJitAgain) != 0;
  return code.length > 0 && code.address + code.length > code.address &&
         out.code.size() <= code.length && std::strchr("JRNIO", code.type) != nullptr &&
         code.type != '\0' && std::ranges::is_sorted(out.lines, {}, &JitLine::offset);
}

// Parses the records of a file.
class Parser {
 public:
  explicit Parser(JitLog& log) : log_(log) {}

  void Run() {
    const std::string& bytes = *log_.bytes;
    ByteCursor rest(bytes);
    rest.Skip(log_.header.header_bytes);
    while (rest.left() >= sizeof(JitRecord) && !log_.ended) {
      const size_t at = bytes.size() - rest.left();
      const auto head = ByteCursor(rest).Read<JitRecord>();
      if (head.bytes < sizeof(head) || head.bytes % 8 != 0 || head.bytes > rest.left()) break;
      latest_ = std::max(latest_, head.time);
      if (!One(head, rest.Part(head.bytes))) {
        damages_.Add("jitlog: a record that does not fit is left out",
                     fmt::format("at byte {}", at));
      }
    }
    if (!rest.empty()) {
      damages_.Add(
          log_.ended ? "jitlog: bytes after its end" : "jitlog: cut off or damaged",
          fmt::format("{} of {} bytes were read", bytes.size() - rest.left(), bytes.size()));
    }
    log_.code = JitIntervals(events_);
    log_.threads = threads_.Take();
    log_.end_ns = latest_;
    log_.damages = damages_.Lines();
  }

 private:
  bool One(const JitRecord& head, ByteCursor record) {
    switch (head.kind) {
      case JitKind::kLoad:
      case JitKind::kStub: {
        JitEvent event;
        if (!ReadCode(record, &event)) return false;
        ++(event.code.stub ? counts_.stubs : counts_.loads);
        events_.push_back(event);
        return true;
      }
      case JitKind::kUnload: {
        const auto unload = record.Read<JitUnloadRecord>();
        if (!record.ok()) return false;
        ++counts_.unloads;
        events_.push_back({.time = head.time, .unload = true, .code = {.address = unload.address}});
        return true;
      }
      case JitKind::kThread: {
        const auto thread = record.Read<JitThreadRecord>();
        const std::string_view name = record.ReadBytes(thread.name_length);
        if (!record.ok() || thread.event < kJitBegan || thread.event > kJitThreadEnded)
          return false;
        ++counts_.threads;
        threads_.Add(thread.tid, thread.event, head.time, name);
        return true;
      }
      case JitKind::kEnd:
        return Finish(record);
    }
    return true;  // an unknown kind
  }

  bool Finish(ByteCursor record) {
    const auto end = record.Read<JitEndRecord>();
    if (!record.ok()) return false;
    log_.ended = true;
    log_.lost = end.lost;
    if (end.lost > 0)
      damages_.Add("jitlog: the disk was full", fmt::format("{} records are lost", end.lost));
    if (end.loads != counts_.loads || end.unloads != counts_.unloads ||
        end.stubs != counts_.stubs || end.threads != counts_.threads) {
      damages_.Add("jitlog: the number of records differs from its end record");
    }
    return true;
  }

  JitLog& log_;
  std::vector<JitEvent> events_;
  Threads threads_;
  Damages damages_;
  JitEndRecord counts_;
  uint64_t latest_ = 0;
};

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

Result<JitLog> ParseJitLog(std::string bytes) {
  JitLog log;
  log.bytes = std::make_shared<const std::string>(std::move(bytes));
  ByteCursor cursor(*log.bytes);
  log.header = cursor.Read<JitHeader>();
  if (!cursor.ok() || std::memcmp(log.header.magic, kJitMagic, sizeof(kJitMagic)) != 0) {
    return Fail(
        "the file '{}' does not begin with {}: it is not a log of jitted code, or was "
        "truncated; record again",
        kJitLogFile, std::string_view(kJitMagic, sizeof(kJitMagic)));
  }
  if (log.header.version != kJitVersion) {
    return WrongUse(
        "the file '{}' has version {}, this jprof reads {}: record again with this jprof",
        kJitLogFile, log.header.version, kJitVersion);
  }
  if (log.header.header_bytes != sizeof(JitHeader)) {
    return Fail(
        "the file '{}' is damaged: its header does not have the length of version {}; record again",
        kJitLogFile, kJitVersion);
  }
  Parser(log).Run();
  return log;
}

Result<JitLog> ReadJitLog(const std::string& directory) {
  const Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const ReaderFile file(folder.get(), kJitLogFile);
  if (!file.exists()) {
    return Fail("{}: has no log of jitted code ('{}'); record with the agent's option TPROF",
                directory, kJitLogFile);
  }
  const uint64_t memory = ReadingMemory(),
                 longest = std::min(kLongestLog, memory / kMemoryPerLogByte);
  std::string bytes = file.ReadAll(longest);
  const size_t read = bytes.size();
  if (read < kLongestLog && read == longest && file.size() > read) {
    return NotEnoughMemory(directory + "/" + kJitLogFile, memory);
  }
  auto log = ParseJitLog(std::move(bytes));
  if (!log) return std::unexpected(Error{directory + ": " + log.error().message, log.error().kind});
  if (read == kLongestLog && file.size() > read) {
    log->damages.push_back("jitlog: longer than 4 GiB: the remainder is left out");
  } else if (read < file.size() && !log->ended) {
    log->damages.push_back(
        fmt::format("jitlog: not read from byte {} on, it has {} bytes", read, file.size()));
  }
  return log;
}

}  // namespace jprof::profile
