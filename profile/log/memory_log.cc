#include "profile/log/memory_log.h"

#include <algorithm>

#include "common/bytes.h"
#include "profile/log/leb128.h"

namespace jprof::profile {

namespace {

constexpr size_t kLongestReference = 5 * kLongestLeb;
constexpr uint64_t kMemoryPerByteOfLog = 2;         // for the file and, while it is read, a copy
constexpr uint64_t kMostNanos = 1'000'000;          // of a packet
constexpr uint64_t kMostBytes = uint64_t{1} << 47;  // half of the address space
constexpr uint64_t kMostAccess = static_cast<uint64_t>(MemoryAccess::kModify);

// An instruction may have up to three places, told apart by how they are accessed. The few that
// have two alike (cmpsq) share a site, which costs a few bytes.
uint64_t SiteKey(const MemoryReference& reference) {
  return reference.code << 2 | static_cast<uint64_t>(reference.access);
}

// Calls `use` for the records of a packet. Returns false if they cannot be decoded.
template <typename Use>
bool DecodeReferences(const LogPacket& packet, std::string_view content, bool damaged, Use use) {
  ByteCursor in(content);
  const auto begins = in.Read<uint8_t>();
  if (begins > 1) return false;
  std::vector<ReferencingSite> sites;
  MemoryReference reference{.pid = packet.pid, .tid = packet.tid};
  uint64_t code = 0, address = 0;
  const uint64_t lasted = packet.end_ns > packet.begin_ns ? packet.end_ns - packet.begin_ns : 0;
  for (uint32_t i = 0; i < packet.records; ++i) {
    const uint64_t head = in.ReadUleb();
    const uint64_t number = head >> 1;
    if (number > sites.size()) return false;
    if (number == sites.size()) {
      code += static_cast<uint64_t>(in.ReadSleb());
      const uint64_t length = in.ReadUleb();
      if ((length & 3) > kMostAccess) return false;
      sites.push_back({.code = code,
                       .bytes = length >> 2,
                       .last = address,
                       .access = static_cast<MemoryAccess>(length & 3)});
    }
    ReferencingSite& site = sites[number];
    address = site.last += static_cast<uint64_t>(in.ReadSleb());
    reference.bytes = (head & 1) != 0 ? in.ReadUleb() : site.bytes;
    if (!in.ok() || reference.bytes > kMostBytes) return false;
    reference.code = site.code;
    reference.address = address;
    reference.access = site.access;
    reference.begins = i == 0 && (damaged || begins != 0);
    reference.time_ns =
        packet.begin_ns + static_cast<uint64_t>(static_cast<double>(lasted) * i /
                                                static_cast<double>(packet.records));
    use(reference);
  }
  return in.left() < 8;  // padding
}

}  // namespace

Result<void> MemoryWriter::Open(const std::string& path, const LogHeader& header) {
  return packets_.Open(path, kMemoryFormat, header);
}

void MemoryWriter::Add(const MemoryReference& reference) {
  auto& pending = packets_.Of(reference.pid, reference.tid);
  if (reference.begins || reference.time_ns > pending.packet.begin_ns + kMostNanos)
    packets_.Flush(pending);
  ReferencingSites& state = pending.state;
  char* out = pending.end;
  if (pending.packet.records == 0) {
    pending.packet.begin_ns = pending.packet.end_ns = reference.time_ns;
    *out++ = reference.begins ? 1 : 0;
  }
  const auto next = static_cast<uint32_t>(state.sites.size());
  const uint32_t number = state.numbers.FindOrAdd(SiteKey(reference), next);
  const bool is_new = number == next;
  if (is_new) {
    state.sites.push_back({.code = reference.code,
                           .bytes = reference.bytes,
                           .last = state.address,
                           .access = reference.access});
  }
  ReferencingSite& site = state.sites[number];
  const bool own_length = reference.bytes != site.bytes;
  out = PutUleb(out, uint64_t{number} << 1 | (own_length ? 1 : 0));
  if (is_new) {
    out = PutSleb(out, static_cast<int64_t>(reference.code - state.code));
    out = PutUleb(out, reference.bytes << 2 | static_cast<uint64_t>(reference.access));
    state.code = reference.code;
  }
  out = PutSleb(out, static_cast<int64_t>(reference.address - site.last));
  if (own_length) out = PutUleb(out, reference.bytes);
  site.last = state.address = reference.address;
  pending.packet.end_ns = std::max(pending.packet.end_ns, reference.time_ns);
  pending.end = out;
  ++pending.packet.records;
  ++records_;
  if (pending.left() < kLongestReference) packets_.Flush(pending);
}

Result<MemoryLog> MemoryLog::Read(const std::string& path, uint64_t memory) {
  auto file = ReadLogFile(path, memory, kMemoryPerByteOfLog);
  if (!file) return std::unexpected(file.error());
  return Parse(*std::move(file));
}

Result<MemoryLog> MemoryLog::Parse(LogBytes file) {
  MemoryLog log;
  const auto decodes = [](const LogPacket& packet, std::string_view content) {
    return DecodeReferences(packet, content, false, [](const MemoryReference&) {});
  };
  if (auto kept = log.Keep(std::move(file), kMemoryFormat, decodes); !kept)
    return std::unexpected(kept.error());
  return log;
}

void MemoryLog::ForEach(const std::function<void(const MemoryReference&)>& use) const {
  ForEachPacket([&](const LogPacket& packet, std::string_view content) {
    DecodeReferences(packet, content, !damages().empty(), use);
  });
}

}  // namespace jprof::profile
