#include "profile/log/memory_log.h"

#include "common/bytes.h"
#include "common/flat_map.h"
#include "profile/log/branch_log.h"
#include "profile/log/leb128.h"

namespace jprof::profile {

// Describes the accesses of one instruction in a packet.
struct ReferencingSite {
  uint64_t code = 0, bytes = 0, last = 0;
  MemoryAccess access = MemoryAccess::kLoad;
};

namespace {

constexpr size_t kMemoryPacketBytes = size_t{256} << 10;
constexpr size_t kLongestReference = 5 * kLongestLeb;
constexpr uint64_t kMemoryPerByteOfLog = 2;  // for the file and, while it is read, a copy
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
  const uint64_t lasted = packet.end_ns - packet.begin_ns;
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
    if (!in.ok()) return false;
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

// Contains the packet of a thread that is not written yet.
struct MemoryWriter::Pending {
  LogPacket packet;
  std::vector<ReferencingSite> sites;
  FlatMap numbers;  // of sites, by key
  uint64_t code = 0, address = 0;
  std::unique_ptr<char[]> bytes = std::make_unique<char[]>(kMemoryPacketBytes);
  char* end = bytes.get();
};

MemoryWriter::MemoryWriter() = default;

MemoryWriter::~MemoryWriter() = default;

Result<void> MemoryWriter::Open(const std::string& path, const LogHeader& header) {
  return file_.Open(path, kMemoryFormat, header);
}

MemoryWriter::Pending& MemoryWriter::PendingOf(uint32_t pid, uint32_t tid) {
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

void MemoryWriter::Add(const MemoryReference& reference) {
  Pending& pending = PendingOf(reference.pid, reference.tid);
  if (reference.begins) Flush(pending);
  char* out = pending.end;
  if (pending.packet.records == 0) {
    pending.packet.begin_ns = reference.time_ns;
    *out++ = reference.begins ? 1 : 0;
  }
  const auto next = static_cast<uint32_t>(pending.sites.size());
  const uint32_t number = pending.numbers.FindOrAdd(SiteKey(reference), next);
  const bool is_new = number == next;
  if (is_new) {
    pending.sites.push_back({.code = reference.code,
                             .bytes = reference.bytes,
                             .last = pending.address,
                             .access = reference.access});
  }
  ReferencingSite& site = pending.sites[number];
  const bool own_length = reference.bytes != site.bytes;
  out = PutUleb(out, uint64_t{number} << 1 | (own_length ? 1 : 0));
  if (is_new) {
    out = PutSleb(out, static_cast<int64_t>(reference.code - pending.code));
    out = PutUleb(out, reference.bytes << 2 | static_cast<uint64_t>(reference.access));
    pending.code = reference.code;
  }
  out = PutSleb(out, static_cast<int64_t>(reference.address - site.last));
  if (own_length) out = PutUleb(out, reference.bytes);
  site.last = pending.address = reference.address;
  pending.packet.end_ns = reference.time_ns;
  pending.end = out;
  ++pending.packet.records;
  ++records_;
  if (out + kLongestReference > pending.bytes.get() + kMemoryPacketBytes) Flush(pending);
}

void MemoryWriter::Flush(Pending& pending) {
  if (pending.packet.records == 0) return;
  file_.Write(pending.packet, std::string_view(pending.bytes.get(), pending.end));
  pending.packet.records = 0;
  pending.sites.clear();
  pending.numbers = {};
  pending.code = pending.address = 0;
  pending.end = pending.bytes.get();
}

Result<void> MemoryWriter::Close(uint64_t end_ns) {
  for (auto& [thread, pending] : pending_) Flush(*pending);
  return file_.Close(end_ns);
}

Result<MemoryLog> MemoryLog::Read(const std::string& path, uint64_t memory) {
  auto file = ReadLogFile(path, memory, kMemoryPerByteOfLog);
  if (!file) return std::unexpected(file.error());
  return Parse(*std::move(file));
}

Result<MemoryLog> MemoryLog::Parse(LogBytes file) {
  MemoryLog log;
  auto summary =
      ReadPackets(file, kMemoryFormat, [&](const LogPacket& packet, std::string_view content) {
        if (!DecodeReferences(packet, content, false, [](const MemoryReference&) {})) return false;
        log.packets_.push_back(file.OffsetOf(content) - sizeof(LogPacket));
        return true;
      });
  if (!summary) return std::unexpected(summary.error());
  log.summary_ = *std::move(summary);
  log.bytes_ = std::move(file.bytes);
  return log;
}

void MemoryLog::ForEach(const std::function<void(const MemoryReference&)>& use) const {
  for (const size_t offset : packets_) {
    ByteCursor in(std::string_view(bytes_).substr(offset));
    const auto packet = in.Read<LogPacket>();
    DecodeReferences(packet, in.ReadBytes(packet.bytes), !damages().empty(), use);
  }
}

}  // namespace jprof::profile
