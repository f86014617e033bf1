// The file `samples` of a tprof recording: the records of a sampler, in the order in which they
// were read. One process outside the profiled ones writes it. See docs/PROFILE_FORMAT.md.
//
// The file consists of a LogHeader and of records. A record is a SampleFileRecord, its text,
// its build id and its chain (8 bytes per address), padded to 8 bytes. A truncated file can be read
// up to the truncation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.h"
#include "profile/log/log_file.h"
#include "profile/read/reading_memory.h"

namespace jprof::profile {

inline constexpr char kSamplesFile[] = "samples";
inline constexpr LogFormat kSampleFormat = {"jprofsmp", 1, "a recording of jprof tprof",
                                            "record again"};

enum class SampleKind : uint8_t { kSample, kMap, kComm, kFork, kExit, kLost, kEnd };

// The fixed part of one record in the file.
struct SampleFileRecord {
  uint32_t bytes = 0;  // of the whole record
  SampleKind kind = SampleKind::kSample;
  uint8_t kernel = 0;    // of kSample, whether in kernel mode
  uint8_t exec = 0;      // of kComm, whether by an exec
  uint8_t build_id = 0;  // of kMap, its length
  uint16_t cpu = 0;
  uint16_t text = 0;   // length of the path of kMap, or the name of kComm
  uint32_t chain = 0;  // of kSample, its length
  uint32_t pid = 0, tid = 0;
  uint64_t time = 0;
  // The instruction of kSample, the start of kMap, the parent's pid of kFork, the number lost of
  // kLost.
  uint64_t address = 0;
  uint64_t length = 0, offset = 0, inode = 0;  // kMap
};
static_assert(sizeof(SampleFileRecord) == 64);

// The content of a record, by kind. Views are valid as long as their source.
struct SampleTaken {
  uint64_t address = 0;  // of the instruction
  bool kernel = false;
  std::span<const uint64_t> chain = {};  // callers, innermost first
};
struct CodeMapped {
  uint64_t start = 0, length = 0, file_offset = 0, inode = 0;
  std::string_view path = {};
  std::string_view build_id = {};  // bytes
};
struct ThreadNamed {
  std::string_view name = {};
  bool by_exec = false;  // the process executed a new program
};
struct ThreadForked {
  uint32_t parent_pid = 0;  // equal to the pid for a new thread of the process
};
struct ThreadExited {};
struct SamplesLost {
  uint64_t count = 0;
};
using SampleEvent =
    std::variant<SampleTaken, CodeMapped, ThreadNamed, ThreadForked, ThreadExited, SamplesLost>;

struct SampleEntry {
  uint64_t time = 0;
  uint32_t pid = 0, tid = 0;
  uint16_t cpu = 0;
  SampleEvent event = {};
};

class SampleWriter {
 public:
  SampleWriter() = default;
  SampleWriter(const SampleWriter&) = delete;

  Result<void> Open(const std::string& path, const LogHeader& header);
  // Adds a record. Texts and chains that are too long are truncated.
  void Add(const SampleEntry& entry);
  // Writes kEnd and closes the file. Fails if a record could not be written.
  Result<void> Close(uint64_t end_ns);

 private:
  struct Packed;
  void Write(Packed packed);

  LogWriter file_;
};

// The whole file in memory. Entries are sorted by time (stable).
class SampleLog {
 public:
  // Reads a file. Fails if it does not exist, is not a recording, has another version or needs more
  // than `memory` bytes. Damaged parts are dropped and reported by damages().
  static Result<SampleLog> Read(const std::string& path, uint64_t memory = ReadingMemory());
  // Does the same for the content of a file; `name` is for messages.
  static Result<SampleLog> Parse(std::string_view bytes, const std::string& name);

  const LogHeader& header() const { return header_; }
  const std::vector<SampleEntry>& entries() const { return entries_; }
  uint64_t end_ns() const { return end_ns_; }  // of the last record if the recording was cut off
  uint64_t lost() const { return lost_; }
  const std::vector<std::string>& damages() const { return damages_; }

 private:
  std::vector<uint64_t> bytes_;  // aligned for chains
  LogHeader header_;
  std::vector<SampleEntry> entries_;
  uint64_t end_ns_ = 0, lost_ = 0;
  std::vector<std::string> damages_;
};

}  // namespace jprof::profile
