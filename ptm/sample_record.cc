#include "ptm/sample_record.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>

namespace jprof::ptm {
namespace {

constexpr uint64_t kMaxChain = 1024;
constexpr size_t kSampleIdBytes = 24;  // TID | TIME | CPU
// This is the size of a dispatch record: header and sample id.
static_assert(kSmallestRecord == sizeof(perf_event_header) + kSampleIdBytes);

// Returns a zero-padded text, which is before the sample id at the end of the record.
std::string_view TextOf(const ByteCursor& bytes) {
  const size_t behind = std::min(bytes.left(), kSampleIdBytes);
  const std::string_view padded = bytes.rest().substr(0, bytes.left() - behind);
  return padded.substr(0, padded.find('\0'));
}

// Reads the sample id, which ends every record except a sample.
void SampleId(ByteCursor bytes, SampleRecord& record) {
  if (bytes.left() < kSampleIdBytes) return;
  bytes.Skip(bytes.left() - kSampleIdBytes);
  const auto pid = bytes.Read<uint32_t>();
  const auto tid = bytes.Read<uint32_t>();
  if (record.kind == SampleRecord::Kind::kSwitch) {
    record.pid = pid;
    record.tid = tid;
  }
  record.time = bytes.Read<uint64_t>();
  record.cpu = static_cast<uint16_t>(bytes.Read<uint32_t>());
}

// Reads a mapping. PERF_RECORD_MISC_MMAP_BUILD_ID is ignored, because another tool may have
// caused it, and jprof never requests build ids.
bool Map(ByteCursor bytes, SampleRecord& record) {
  record.kind = SampleRecord::Kind::kMap;
  record.pid = bytes.Read<uint32_t>();
  record.tid = bytes.Read<uint32_t>();
  record.address = bytes.Read<uint64_t>();
  record.length = bytes.Read<uint64_t>();
  record.offset = bytes.Read<uint64_t>();
  bytes.Skip(8);  // device
  record.inode = bytes.Read<uint64_t>();
  bytes.Skip(8);  // generation
  const auto protection = bytes.Read<uint32_t>();
  bytes.Skip(4);
  record.text = TextOf(bytes);
  return (protection & PROT_EXEC) != 0;
}

}  // namespace

CountedValues ReadCountedValues(ByteCursor& bytes) {
  CountedValues read;
  const auto events = bytes.Read<uint64_t>();
  read.enabled = bytes.Read<uint64_t>();
  read.running = bytes.Read<uint64_t>();
  read.size = std::min<size_t>(events, CountedValues::kMost);
  for (size_t i = 0; i < read.size; ++i) read.values[i] = bytes.Read<uint64_t>();
  return read;
}

void RecordParser::Sample(const perf_event_header& header, ByteCursor bytes, SampleRecord& record) {
  record.kind = SampleRecord::Kind::kSample;
  const unsigned mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
  record.kernel = mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
  record.address = bytes.Read<uint64_t>();
  record.pid = bytes.Read<uint32_t>();
  record.tid = bytes.Read<uint32_t>();
  record.time = bytes.Read<uint64_t>();
  if (parts_.data) record.data = bytes.Read<uint64_t>();
  record.cpu = static_cast<uint16_t>(bytes.Read<uint32_t>());
  bytes.Skip(4);
  if (parts_.counts) record.counted = ReadCountedValues(bytes);
  if (!parts_.chains) return;
  chain_.clear();
  const uint64_t count = std::min(bytes.Read<uint64_t>(), kMaxChain);
  for (uint64_t i = 0; i < count && bytes.ok(); ++i) {
    const auto address = bytes.Read<uint64_t>();
    if (address < PERF_CONTEXT_MAX) chain_.push_back(address);
  }
  record.chain = chain_;
}

void RecordParser::Parse(std::span<const std::byte> raw, const SampleVisitor& visit) {
  ByteCursor bytes(raw);
  const auto header = bytes.Read<perf_event_header>();
  SampleRecord record;
  bool wanted = true;
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      Sample(header, bytes, record);
      break;
    case PERF_RECORD_MMAP2:
      wanted = Map(bytes, record);
      break;
    case PERF_RECORD_COMM:
      record.kind = SampleRecord::Kind::kComm;
      record.exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
      record.pid = bytes.Read<uint32_t>();
      record.tid = bytes.Read<uint32_t>();
      record.text = TextOf(bytes);
      break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      record.kind =
          header.type == PERF_RECORD_FORK ? SampleRecord::Kind::kFork : SampleRecord::Kind::kExit;
      record.pid = bytes.Read<uint32_t>();
      record.parent_pid = bytes.Read<uint32_t>();
      record.tid = bytes.Read<uint32_t>();
      record.parent_tid = bytes.Read<uint32_t>();
      break;
    case PERF_RECORD_SWITCH_CPU_WIDE:  // one record as a thread leaves, one as the next arrives
      record.kind = SampleRecord::Kind::kSwitch;
      wanted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0;
      break;
    case PERF_RECORD_LOST:
      bytes.Skip(8);
      [[fallthrough]];
    case PERF_RECORD_LOST_SAMPLES:
      record.kind = SampleRecord::Kind::kLost;
      record.lost = bytes.Read<uint64_t>();
      break;
    default:
      wanted = false;
  }
  if (!wanted || !bytes.ok()) return;
  if (record.kind != SampleRecord::Kind::kSample) SampleId(bytes, record);
  visit(record);
}

}  // namespace jprof::ptm
