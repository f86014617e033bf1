#include "profile/log/sample_log.h"

#include <algorithm>

#include "common/bytes.h"

namespace jprof::profile {
namespace {

// The most that a killed process loses.
constexpr uint32_t kPacketRecords = 64;
constexpr size_t kPacketBytes = 4096;
constexpr size_t kLongestName = 4096;
constexpr size_t kLongestBuildId = 32;
constexpr size_t kLongestChain = 4096;
// Reading needs memory for the file, an entry of about 100 bytes for every 32 bytes of it, and half
// of the entries again to sort them.
constexpr uint64_t kMemoryPerByte = 6;

// Appends a record and what follows it to the content of a packet.
class RecordPacker {
 public:
  RecordPacker(const SampleEntry& entry, std::string& content)
      : record_{.cpu = entry.cpu, .pid = entry.pid, .tid = entry.tid, .time = entry.time},
        content_(content) {}

  void operator()(const SampleTaken& sample) {
    const auto chain = sample.chain.first(std::min(sample.chain.size(), kLongestChain));
    record_.kind = SampleKind::kSample;
    record_.flag = sample.kernel;
    record_.address = sample.address;
    record_.chain = static_cast<uint16_t>(chain.size());
    Put(record_);
    content_.append(reinterpret_cast<const char*>(chain.data()), chain.size_bytes());
  }
  void operator()(const CodeMapped& map) {
    const std::string_view build_id = map.build_id.substr(0, kLongestBuildId);
    record_.kind = SampleKind::kMap;
    record_.address = map.start;
    PutWithText(map.path, SampleFileMap{map.length, map.file_offset, map.inode, build_id.size()});
    content_ += build_id;
  }
  void operator()(const ThreadNamed& named) {
    record_.kind = SampleKind::kComm;
    record_.flag = named.by_exec;
    PutWithText(named.name);
  }
  void operator()(const ThreadForked& forked) {
    record_.kind = SampleKind::kFork;
    record_.address = forked.parent_pid;
    Put(record_);
  }
  void operator()(const ThreadExited&) {
    record_.kind = SampleKind::kExit;
    Put(record_);
  }

 private:
  template <typename T>
  void Put(const T& value) {
    content_ += BytesOf(value);
  }
  void PutWithText(std::string_view text, const auto&... more) {
    text = text.substr(0, kLongestName);
    record_.text = static_cast<uint16_t>(text.size());
    Put(record_);
    (Put(more), ...);
    content_ += text;
  }

  SampleFileRecord record_;
  std::string& content_;
};

CodeMapped ReadMap(const SampleFileRecord& record, ByteCursor& in) {
  const auto map = in.Read<SampleFileMap>();
  const std::string_view path = in.ReadBytes(record.text);
  return {record.address, map.length, map.offset, map.inode, path, in.ReadBytes(map.build_id)};
}

SampleTaken ReadSample(const SampleFileRecord& record, ByteCursor& in) {
  const std::string_view chain = in.ReadBytes(8 * size_t{record.chain});
  return {record.address,
          record.flag != 0,
          {reinterpret_cast<const uint64_t*>(chain.data()), chain.size() / 8}};
}

SampleEvent ReadEvent(const SampleFileRecord& record, ByteCursor& in) {
  switch (record.kind) {
    case SampleKind::kSample:
      return ReadSample(record, in);
    case SampleKind::kMap:
      return ReadMap(record, in);
    case SampleKind::kComm:
      return ThreadNamed{in.ReadBytes(record.text), record.flag != 0};
    case SampleKind::kFork:
      return ThreadForked{static_cast<uint32_t>(record.address)};
    case SampleKind::kExit:
      return ThreadExited{};
  }
  in.Fail();
  return ThreadExited{};
}

// Reads a record from the content of a packet, which is aligned to 8 bytes.
SampleEntry ReadEntry(ByteCursor& in) {
  const auto record = in.Read<SampleFileRecord>();
  SampleEntry entry{record.time, record.pid, record.tid, record.cpu, ReadEvent(record, in)};
  in.Skip(in.left() % 8);
  return entry;
}

}  // namespace

Result<void> SampleWriter::Open(const std::string& path, const LogHeader& header) {
  return file_.Open(path, kSampleFormat, header);
}

void SampleWriter::Add(const SampleEntry& entry) {
  if (packet_.records++ == 0) packet_.begin_ns = packet_.end_ns = entry.time;
  packet_.begin_ns = std::min(packet_.begin_ns, entry.time);
  packet_.end_ns = std::max(packet_.end_ns, entry.time);
  std::visit(RecordPacker(entry, content_), entry.event);
  content_ += LogPadding(content_.size());
  if (packet_.records == kPacketRecords || content_.size() >= kPacketBytes) Flush();
}

void SampleWriter::Flush() {
  if (packet_.records == 0) return;
  file_.Write(packet_, content_);
  packet_ = {};
  content_.clear();
}

Result<void> SampleWriter::Close(uint64_t end_ns) {
  Flush();
  return file_.Close(end_ns);
}

Result<SampleLog> SampleLog::Read(const std::string& path, uint64_t memory) {
  auto file = ReadLogFile(path, memory, kMemoryPerByte);
  if (!file) return std::unexpected(file.error());
  return Parse(*std::move(file));
}

Result<SampleLog> SampleLog::Parse(LogBytes file) {
  SampleLog log;
  log.entries_.reserve(file.bytes.size() / sizeof(SampleFileRecord));  // it never grows
  auto summary =
      ReadPackets(file, kSampleFormat, [&log](const LogPacket& packet, std::string_view content) {
        return log.AddPacket(packet, content);
      });
  if (!summary) return std::unexpected(summary.error());
  log.summary_ = *std::move(summary);
  log.bytes_ = std::move(file.bytes);
  std::ranges::stable_sort(log.entries_, {}, &SampleEntry::time);
  return log;
}

bool SampleLog::AddPacket(const LogPacket& packet, std::string_view content) {
  const size_t before = entries_.size();
  ByteCursor in(content);
  for (uint32_t i = 0; i < packet.records && in.ok(); ++i) entries_.push_back(ReadEntry(in));
  if (in.ok() && in.empty()) return true;
  entries_.resize(before);
  return false;
}

}  // namespace jprof::profile
