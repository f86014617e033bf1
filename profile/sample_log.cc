#include "profile/sample_log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/bytes.h"
#include "common/errno_text.h"
#include "profile/reader_file.h"

namespace jprof::profile {
namespace {

constexpr size_t kLongestName = 4096;
constexpr size_t kLongestChain = 4096;
// What reading takes: the file, its aligned copy, and an entry of some 112 bytes for 64 of the file
// or more.
constexpr uint64_t kMemoryPerByte = 4;

size_t Padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

// Where a record's chain begins: behind text and build id, padded.
size_t ChainOffset(const SampleFileRecord& record) {
  return Padded(sizeof(record) + record.text + record.build_id);
}
size_t SizeOf(const SampleFileRecord& record) {
  return ChainOffset(record) + 8 * size_t{record.chain};
}

}  // namespace

SampleWriter::~SampleWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

Result<void> SampleWriter::Open(const std::string& path, const SampleFileHeader& header) {
  path_ = path;
  file_ = std::fopen(path.c_str(), "wbe");
  if (file_ == nullptr) return Fail("cannot write {}: {}", path, ErrnoText());
  SampleFileHeader whole = header;
  std::memcpy(whole.magic, kSampleMagic, sizeof(whole.magic));
  if (std::fwrite(&whole, sizeof(whole), 1, file_) != 1)
    return Fail("cannot write {}: {}", path, ErrnoText());
  return {};
}

void SampleWriter::Add(SampleEntry entry) {
  if (file_ == nullptr || error_ != 0) return;
  SampleFileRecord& record = entry.record;
  record.text = static_cast<uint16_t>(std::min(entry.text.size(), kLongestName));
  record.build_id = static_cast<uint8_t>(std::min<size_t>(entry.build_id.size(), 32));
  record.chain = static_cast<uint32_t>(std::min(entry.chain.size(), kLongestChain));
  record.bytes = static_cast<uint32_t>(SizeOf(record));
  std::string bytes(ChainOffset(record), '\0');
  std::memcpy(bytes.data(), &record, sizeof(record));
  std::memcpy(bytes.data() + sizeof(record), entry.text.data(), record.text);
  std::memcpy(bytes.data() + sizeof(record) + record.text, entry.build_id.data(), record.build_id);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size() ||
      std::fwrite(entry.chain.data(), 8, record.chain, file_) != record.chain) {
    error_ = errno != 0 ? errno : EIO;
  }
}

Result<void> SampleWriter::Close(uint64_t end_ns) {
  if (file_ == nullptr) return {};
  Add({.record = {.kind = SampleKind::kEnd, .time = end_ns}});
  if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
  file_ = nullptr;
  if (error_ != 0) return Fail("{} is not complete: {}", path_, ErrnoText(error_));
  return {};
}

Result<SampleLog> SampleLog::Read(const std::string& path, uint64_t memory) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return Fail("cannot read {}: {}", path, ErrnoText());
  if (!S_ISREG(status.st_mode)) return Fail("{} is no file", path);
  const ReaderFile file(AT_FDCWD, path.c_str());
  if (!file.exists()) return Fail("cannot read {}: {}", path, ErrnoText());
  const std::string bytes = file.ReadAll(memory / kMemoryPerByte);
  if (bytes.size() == memory / kMemoryPerByte && file.size() > bytes.size())
    return NotEnoughMemory(path, memory);
  auto log = Parse(bytes, path);
  if (log && bytes.size() < file.size())
    log->damages_.push_back(
        fmt::format("{}: nothing from byte {} on, it is {} long", path, bytes.size(), file.size()));
  return log;
}

Result<SampleLog> SampleLog::Parse(std::string_view file, const std::string& path) {
  SampleLog log;
  const size_t size = file.size();
  log.bytes_.resize(size / 8 + 1);
  if (size > 0) std::memcpy(log.bytes_.data(), file.data(), size);
  ByteCursor rest(std::string_view(reinterpret_cast<const char*>(log.bytes_.data()), size));
  log.header_ = rest.Read<SampleFileHeader>();
  if (!rest.ok() || std::memcmp(log.header_.magic, kSampleMagic, sizeof(kSampleMagic)) != 0) {
    return Fail("{} is no recording of jprof tprof", path);
  }
  if (log.header_.version != kSampleVersion) {
    return Fail("{} has version {}, this jprof reads {}: record again with this jprof", path,
                log.header_.version, kSampleVersion);
  }
  bool ended = false;
  while (!ended && rest.left() >= sizeof(SampleFileRecord)) {
    SampleEntry entry;
    const SampleFileRecord& record = entry.record = ByteCursor(rest).Read<SampleFileRecord>();
    if (record.bytes != SizeOf(record) || record.bytes > rest.left() ||
        record.kind > SampleKind::kEnd)
      break;
    ByteCursor in = rest.Part(record.bytes);
    in.Skip(sizeof(record));
    entry.text = in.ReadBytes(record.text);
    entry.build_id = in.ReadBytes(record.build_id);
    in.Skip(in.left() - 8 * size_t{record.chain});
    entry.chain = {reinterpret_cast<const uint64_t*>(in.rest().data()), record.chain};
    ended = record.kind == SampleKind::kEnd;
    if (record.kind == SampleKind::kLost) log.lost_ += record.address;
    log.end_ns_ = std::max(log.end_ns_, record.time);
    if (!ended) log.entries_.push_back(entry);
  }
  if (!ended) {
    log.damages_.push_back(
        fmt::format("{}: cut off or damaged after {} records ({} of {} bytes read)", path,
                    log.entries_.size(), size - rest.left(), size));
  }
  std::ranges::stable_sort(log.entries_, {},
                           [](const SampleEntry& entry) { return entry.record.time; });
  return log;
}

}  // namespace jprof::profile
