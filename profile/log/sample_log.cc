#include "profile/log/sample_log.h"

#include <algorithm>
#include <cstring>

#include "common/bytes.h"

namespace jprof::profile {
namespace {

constexpr size_t kLongestName = 4096;
constexpr size_t kLongestBuildId = 32;
constexpr size_t kLongestChain = 4096;
// Reading needs memory for the file, its aligned copy, and an entry of about 100 bytes for every 64
// bytes of the file or more.
constexpr uint64_t kMemoryPerByte = 4;

size_t Padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

// Returns the offset of a record's chain, which is after text and build id, padded.
size_t ChainOffset(const SampleFileRecord& record) {
  return Padded(sizeof(record) + record.text + record.build_id);
}
size_t SizeOf(const SampleFileRecord& record) {
  return ChainOffset(record) + 8 * size_t{record.chain};
}

SampleEvent EventOf(const SampleFileRecord& record, ByteCursor in) {
  in.Skip(sizeof(record));
  const std::string_view text = in.ReadBytes(record.text);
  const std::string_view build_id = in.ReadBytes(record.build_id);
  in.Skip(in.left() - 8 * size_t{record.chain});
  switch (record.kind) {
    case SampleKind::kSample:
      return SampleTaken{
          record.address,
          record.kernel != 0,
          {reinterpret_cast<const uint64_t*>(in.rest().data()), size_t{record.chain}}};
    case SampleKind::kMap:
      return CodeMapped{record.address, record.length, record.offset, record.inode, text, build_id};
    case SampleKind::kComm:
      return ThreadNamed{text, record.exec != 0};
    case SampleKind::kFork:
      return ThreadForked{static_cast<uint32_t>(record.address)};
    case SampleKind::kLost:
      return SamplesLost{record.address};
    case SampleKind::kExit:
    case SampleKind::kEnd:
      break;
  }
  return ThreadExited{};
}

}  // namespace

// Contains a record and what follows it in the file.
struct SampleWriter::Packed {
  SampleFileRecord record = {};
  std::string_view text = {};
  std::string_view build_id = {};
  std::span<const uint64_t> chain = {};

  void Pack(const SampleTaken& sample) {
    record.kind = SampleKind::kSample;
    record.kernel = sample.kernel;
    record.address = sample.address;
    chain = sample.chain;
  }
  void Pack(const CodeMapped& map) {
    record.kind = SampleKind::kMap;
    record.address = map.start;
    record.length = map.length;
    record.offset = map.file_offset;
    record.inode = map.inode;
    text = map.path;
    build_id = map.build_id;
  }
  void Pack(const ThreadNamed& named) {
    record.kind = SampleKind::kComm;
    record.exec = named.by_exec;
    text = named.name;
  }
  void Pack(const ThreadForked& forked) {
    record.kind = SampleKind::kFork;
    record.address = forked.parent_pid;
  }
  void Pack(const ThreadExited&) { record.kind = SampleKind::kExit; }
  void Pack(const SamplesLost& lost) {
    record.kind = SampleKind::kLost;
    record.address = lost.count;
  }
};

Result<void> SampleWriter::Open(const std::string& path, const LogHeader& header) {
  return file_.Open(path, kSampleFormat, header);
}

void SampleWriter::Add(const SampleEntry& entry) {
  Packed packed = {
      .record = {.cpu = entry.cpu, .pid = entry.pid, .tid = entry.tid, .time = entry.time}};
  std::visit([&](const auto& event) { packed.Pack(event); }, entry.event);
  Write(packed);
}

void SampleWriter::Write(Packed packed) {
  SampleFileRecord& record = packed.record;
  record.text = static_cast<uint16_t>(std::min(packed.text.size(), kLongestName));
  record.build_id = static_cast<uint8_t>(std::min(packed.build_id.size(), kLongestBuildId));
  record.chain = static_cast<uint32_t>(std::min(packed.chain.size(), kLongestChain));
  record.bytes = static_cast<uint32_t>(SizeOf(record));
  std::string bytes(reinterpret_cast<const char*>(&record), sizeof(record));
  bytes += packed.text.substr(0, record.text);
  bytes += packed.build_id.substr(0, record.build_id);
  bytes.resize(ChainOffset(record));
  file_.Write(bytes.data(), bytes.size());
  file_.Write(packed.chain.data(), 8 * size_t{record.chain});
}

Result<void> SampleWriter::Close(uint64_t end_ns) {
  if (!file_.is_open()) return {};
  Write({.record = {.kind = SampleKind::kEnd, .time = end_ns}});
  return file_.Close();
}

Result<SampleLog> SampleLog::Read(const std::string& path, uint64_t memory) {
  const auto file = OpenLogFile(path);
  if (!file) return std::unexpected(file.error());
  const std::string bytes = file->ReadAll(memory / kMemoryPerByte);
  const uint64_t read = bytes.size(), size = file->size();
  if (read == memory / kMemoryPerByte && size > read) return NotEnoughMemory(path, memory);
  auto log = Parse(bytes, path);
  if (log && read < size)
    log->damages_.push_back(
        fmt::format("{}: not read from byte {} on, it has {} bytes", path, read, size));
  return log;
}

Result<SampleLog> SampleLog::Parse(std::string_view file, const std::string& path) {
  SampleLog log;
  const size_t size = file.size();
  log.bytes_.resize(size / 8 + 1);
  if (size > 0) std::memcpy(log.bytes_.data(), file.data(), size);
  ByteCursor rest(std::string_view(reinterpret_cast<const char*>(log.bytes_.data()), size));
  const auto header = TakeLogHeader(rest, kSampleFormat, path);
  if (!header) return std::unexpected(header.error());
  log.header_ = *header;
  bool ended = false;
  while (!ended && rest.left() >= sizeof(SampleFileRecord)) {
    const auto record = ByteCursor(rest).Read<SampleFileRecord>();
    if (record.bytes != SizeOf(record) || record.bytes > rest.left() ||
        record.kind > SampleKind::kEnd)
      break;
    const SampleEvent event = EventOf(record, rest.Part(record.bytes));
    if (const auto* lost = std::get_if<SamplesLost>(&event)) log.lost_ += lost->count;
    log.end_ns_ = std::max(log.end_ns_, record.time);
    ended = record.kind == SampleKind::kEnd;
    if (!ended) log.entries_.push_back({record.time, record.pid, record.tid, record.cpu, event});
  }
  if (!ended) {
    log.damages_.push_back(
        fmt::format("{}: cut off or damaged after {} records ({} of {} bytes read)", path,
                    log.entries_.size(), size - rest.left(), size));
  }
  std::ranges::stable_sort(log.entries_, {}, &SampleEntry::time);
  return log;
}

}  // namespace jprof::profile
