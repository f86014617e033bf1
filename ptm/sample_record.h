// Parses the records that the kernel writes into the ring buffers of a CpuSampler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "common/bytes.h"

struct perf_event_header;

namespace jprof::ptm {

// Holds one reading of CpuSamplerOptions::counted, the sampling event first. `enabled` is in ns
// since the start.
struct CountedValues {
  static constexpr size_t kMost = 9;
  uint64_t enabled = 0, running = 0;
  size_t size = 0;
  uint64_t values[kMost] = {};
};

// Describes a record from the kernel. Only the fields named for its kind are set.
struct SampleRecord {
  enum class Kind : uint8_t { kSample, kMap, kComm, kFork, kExit, kLost, kSwitch };
  Kind kind = Kind::kSample;
  bool kernel = false;  // of kSample, if the address is the kernel's
  bool exec = false;    // of kComm, if by an exec, which removed all mappings of the process
  uint16_t cpu = 0;
  uint32_t pid = 0, tid = 0;                // kSwitch: the thread that is dispatched
  uint32_t parent_pid = 0, parent_tid = 0;  // kFork
  uint64_t time = 0;
  uint64_t address = 0;                        // instruction of kSample, start of kMap
  uint64_t data = 0;                           // kSample, with data: the address accessed
  uint64_t length = 0, offset = 0, inode = 0;  // kMap
  uint64_t lost = 0;      // of kLost, samples or records; the maximum number for unreadable data
  std::string_view text;  // path of kMap, name of kComm; valid during the call
  std::span<const uint64_t> chain;  // kSample with chains, innermost first; context marks left out
  CountedValues counted;            // kSample, with switches
};

// Reads values that the kernel writes in the read format of a CpuSampler: those of a group, with
// both times.
CountedValues ReadCountedValues(ByteCursor& bytes);

// No record that a CpuSampler causes has fewer bytes.
inline constexpr size_t kSmallestRecord = 32;

// Is called with each record, which is valid during the call.
using SampleVisitor = std::function<void(const SampleRecord&)>;

// States what samples have besides their instruction, thread, time and processor.
struct SampleParts {
  bool chains = false;  // of callers
  bool counts = false;  // counted values
  bool data = false;    // the address of the data
};

// Parses records of events with the attributes that CpuSampler sets.
class RecordParser {
 public:
  explicit RecordParser(const SampleParts& parts) : parts_(parts) {}

  // Visits the record. Skips it if it is damaged, or if SampleRecord cannot describe it, such as a
  // mapping without code.
  void Parse(std::span<const std::byte> raw, const SampleVisitor& visit);

 private:
  void Sample(const perf_event_header& header, ByteCursor bytes, SampleRecord& record);

  SampleParts parts_;
  std::vector<uint64_t> chain_;
};

}  // namespace jprof::ptm
