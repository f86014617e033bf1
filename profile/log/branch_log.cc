#include "profile/log/branch_log.h"

#include <unordered_set>

#include "common/bytes.h"
#include "profile/log/leb128.h"

namespace jprof::profile {

// Contains what an encoded record refers to: the record before it in its packet.
struct BranchBefore {
  uint64_t to = 0, time = 0;
};

namespace {

constexpr size_t kPacketBytes = size_t{64} << 10;
constexpr size_t kLongestRecord = 64;  // encoded; six numbers of at most ten bytes are less
constexpr uint8_t kKindBits = 0x0f, kHasRepeats = 0x10, kHasTime = 0x20;
// Reading needs memory for the file and, while it is read, a copy.
constexpr uint64_t kBranchMemoryPerByte = 2;

int64_t Difference(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }

char* Encode(const Branch& branch, BranchBefore& previous, char* out) {
  char* const head = out++;
  auto kind = static_cast<uint8_t>(branch.kind);
  if (branch.kind == BranchKind::kBegin) {
    out = PutSleb(out, Difference(branch.to, previous.to));
  } else {
    out = PutSleb(out, Difference(branch.from, previous.to));
    if (branch.kind != BranchKind::kEnd) out = PutSleb(out, Difference(branch.to, branch.from));
  }
  out = PutUleb(out, branch.instructions);
  if (branch.repeats != 0) {
    kind |= kHasRepeats;
    out = PutUleb(out, branch.repeats);
  }
  if (branch.time_ns > previous.time) {
    kind |= kHasTime;
    out = PutUleb(out, branch.time_ns - previous.time);
    previous.time = branch.time_ns;
  }
  previous.to = branch.to;
  *head = static_cast<char>(kind);
  return out;
}

// Returns false if the record is damaged.
bool Decode(ByteCursor& in, BranchBefore& previous, Branch& branch) {
  const auto head = in.Read<uint8_t>();
  if ((head & kKindBits) > static_cast<uint8_t>(BranchKind::kEnd)) return false;
  branch.kind = static_cast<BranchKind>(head & kKindBits);
  const uint64_t at = previous.to + static_cast<uint64_t>(in.ReadSleb());
  branch.from = branch.kind == BranchKind::kBegin ? 0 : at;
  if (branch.kind == BranchKind::kBegin) {
    branch.to = at;
  } else if (branch.kind == BranchKind::kEnd) {
    branch.to = 0;
  } else {
    branch.to = branch.from + static_cast<uint64_t>(in.ReadSleb());
  }
  branch.instructions = in.ReadUleb();
  branch.repeats = (head & kHasRepeats) != 0 ? in.ReadUleb() : 0;
  if ((head & kHasTime) != 0) previous.time += in.ReadUleb();
  branch.time_ns = previous.time;
  previous.to = branch.to;
  return in.ok();
}

// Calls `use` for the records of a packet. Returns false if they cannot be decoded.
template <typename Use>
bool DecodePacket(const LogPacket& packet, std::string_view content, Use use) {
  ByteCursor in(content);
  BranchBefore previous{.time = packet.begin_ns};
  Branch branch{.pid = packet.pid, .tid = packet.tid};
  for (uint32_t i = 0; i < packet.records; ++i) {
    if (!Decode(in, previous, branch)) return false;
    use(branch);
  }
  return in.left() < 8;  // padding
}

}  // namespace

// Contains the packet of a thread that is not written yet.
struct BranchWriter::Pending {
  LogPacket packet;
  BranchBefore previous;
  std::unique_ptr<char[]> bytes = std::make_unique<char[]>(kPacketBytes);
  char* end = bytes.get();
};

BranchWriter::BranchWriter() = default;

BranchWriter::~BranchWriter() = default;

Result<void> BranchWriter::Open(const std::string& path, const LogHeader& header) {
  return file_.Open(path, kBranchFormat, header);
}

BranchWriter::Pending& BranchWriter::PendingOf(uint32_t pid, uint32_t tid) {
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

void BranchWriter::Add(const Branch& branch) {
  Pending& pending = PendingOf(branch.pid, branch.tid);
  if (pending.packet.records == 0) {
    pending.packet.begin_ns = branch.time_ns;
    pending.previous = {.time = branch.time_ns};
  }
  pending.end = Encode(branch, pending.previous, pending.end);
  ++pending.packet.records;
  ++records_;
  if (pending.end + kLongestRecord > pending.bytes.get() + kPacketBytes) Flush(pending);
}

void BranchWriter::Flush(Pending& pending) {
  if (pending.packet.records == 0) return;
  pending.packet.end_ns = pending.previous.time;
  file_.Write(pending.packet, std::string_view(pending.bytes.get(), pending.end));
  pending.packet.records = 0;
  pending.end = pending.bytes.get();
}

Result<void> BranchWriter::Close(uint64_t end_ns) {
  for (auto& [thread, pending] : pending_) Flush(*pending);
  return file_.Close(end_ns);
}

Result<BranchLog> BranchLog::Read(const std::string& path, uint64_t memory) {
  auto file = ReadLogFile(path, memory, kBranchMemoryPerByte);
  if (!file) return std::unexpected(file.error());
  return Parse(*std::move(file));
}

Result<BranchLog> BranchLog::Parse(LogBytes file) {
  BranchLog log;
  auto summary =
      ReadPackets(file, kBranchFormat, [&](const LogPacket& packet, std::string_view content) {
        if (!DecodePacket(packet, content, [](const Branch&) {})) return false;
        log.packets_.push_back(file.OffsetOf(content) - sizeof(LogPacket));
        return true;
      });
  if (!summary) return std::unexpected(summary.error());
  log.summary_ = *std::move(summary);
  log.bytes_ = std::move(file.bytes);
  return log;
}

void BranchLog::ForEach(const std::function<void(const Branch&)>& use) const {
  for (const size_t offset : packets_) {
    ByteCursor in(std::string_view(bytes_).substr(offset));
    const auto packet = in.Read<LogPacket>();
    DecodePacket(packet, in.ReadBytes(packet.bytes), use);
  }
}

std::vector<TracedThread> BranchLog::Threads() const {
  std::vector<TracedThread> threads;
  std::unordered_set<uint64_t> known;
  for (const size_t offset : packets_) {
    const auto packet = ByteCursor(std::string_view(bytes_).substr(offset)).Read<LogPacket>();
    const bool is_new = known.insert(ThreadKey(packet.pid, packet.tid)).second;
    if (is_new) threads.push_back({.pid = packet.pid, .tid = packet.tid});
  }
  return threads;
}

std::vector<Branch> BranchLog::All() const {
  std::vector<Branch> all;
  all.reserve(records());
  ForEach([&all](const Branch& branch) { all.push_back(branch); });
  return all;
}

}  // namespace jprof::profile
