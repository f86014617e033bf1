#include "profile/log/branch_log.h"

#include <unordered_set>

#include "common/bytes.h"
#include "profile/log/leb128.h"

namespace jprof::profile {

namespace {

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

Result<void> BranchWriter::Open(const std::string& path, const LogHeader& header) {
  return packets_.Open(path, kBranchFormat, header);
}

void BranchWriter::Add(const Branch& branch) {
  auto& pending = packets_.Of(branch.pid, branch.tid);
  if (pending.packet.records == 0) {
    pending.packet.begin_ns = branch.time_ns;
    pending.state = {.time = branch.time_ns};
  }
  pending.end = Encode(branch, pending.state, pending.end);
  pending.packet.end_ns = pending.state.time;
  ++pending.packet.records;
  ++records_;
  if (pending.left() < kLongestRecord) packets_.Flush(pending);
}

Result<BranchLog> BranchLog::Read(const std::string& path, uint64_t memory) {
  auto file = ReadLogFile(path, memory, kBranchMemoryPerByte);
  if (!file) return std::unexpected(file.error());
  return Parse(*std::move(file));
}

Result<BranchLog> BranchLog::Parse(LogBytes file) {
  BranchLog log;
  const auto decodes = [](const LogPacket& packet, std::string_view content) {
    return DecodePacket(packet, content, [](const Branch&) {});
  };
  if (auto kept = log.Keep(std::move(file), kBranchFormat, decodes); !kept)
    return std::unexpected(kept.error());
  return log;
}

void BranchLog::ForEach(const std::function<void(const Branch&)>& use) const {
  ForEachPacket([&use](const LogPacket& packet, std::string_view content) {
    DecodePacket(packet, content, use);
  });
}

std::vector<TracedThread> BranchLog::Threads() const {
  std::vector<TracedThread> threads;
  std::unordered_set<uint64_t> known;
  ForEachPacket([&](const LogPacket& packet, std::string_view) {
    const bool is_new = known.insert(ThreadKey(packet.pid, packet.tid)).second;
    if (is_new) threads.push_back({.pid = packet.pid, .tid = packet.tid});
  });
  return threads;
}

std::vector<Branch> BranchLog::All() const {
  std::vector<Branch> all;
  all.reserve(records());
  ForEach([&all](const Branch& branch) { all.push_back(branch); });
  return all;
}

}  // namespace jprof::profile
