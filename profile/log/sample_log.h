// Writes and reads the file `samples` of a tprof recording: the records of a sampler, in the order
// in which they were read. One process outside the profiled ones writes it. See
// docs/PROFILE_FORMAT.md.
//
// It is a log (profile/log/log_format.h), whose packets have records of any threads. A record is a
// SampleFileRecord and what its kind adds: kMap a SampleFileMap, its path and its build id, kComm a
// name, kSample a chain (8 bytes per address); all padded to 8 bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.h"
#include "profile/log/log_reader.h"
#include "profile/log/log_writer.h"
#include "profile/read/reading_memory.h"

namespace jprof::profile {

inline constexpr char kSamplesFile[] = "samples";
inline constexpr LogFormat kSampleFormat = {"jprofsmp", 2, "a recording of jprof tprof",
                                            "record again"};

enum class SampleKind : uint8_t { kSample, kMap, kComm, kFork, kExit };

// Begins each record.
struct SampleFileRecord {
  SampleKind kind = SampleKind::kSample;
  uint8_t flag = 0;  // of kSample, whether in kernel mode; of kComm, whether by an exec
  uint16_t cpu = 0;
  uint16_t text = 0;   // length of the path of kMap, or the name of kComm
  uint16_t chain = 0;  // of kSample, the number of callers
  uint32_t pid = 0, tid = 0;
  uint64_t time = 0;
  uint64_t address = 0;  // the instruction of kSample, the start of kMap, the parent's pid of kFork
};
static_assert(sizeof(SampleFileRecord) == 32);

struct SampleFileMap {
  uint64_t length = 0, offset = 0, inode = 0;
  uint64_t build_id = 0;  // its length
};
static_assert(sizeof(SampleFileMap) == 32);

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
using SampleEvent = std::variant<SampleTaken, CodeMapped, ThreadNamed, ThreadForked, ThreadExited>;

struct SampleEntry {
  uint64_t time = 0;
  uint32_t pid = 0, tid = 0;
  uint16_t cpu = 0;
  SampleEvent event = {};
};

// Writes a file. A process that is killed loses the last 64 records at most.
class SampleWriter {
 public:
  SampleWriter() = default;
  SampleWriter(const SampleWriter&) = delete;

  Result<void> Open(const std::string& path, const LogHeader& header);
  // Adds a record. Texts and chains that are too long are truncated.
  void Add(const SampleEntry& entry);
  // Counts samples that the system could not record.
  void AddLost(uint64_t samples) { file_.Discard(samples); }
  // Writes what is buffered and the end, and closes the file. Fails if something could not be
  // written.
  Result<void> Close(uint64_t end_ns);

 private:
  void Flush();

  LogWriter file_;
  LogPacket packet_;
  std::string content_;  // of that packet
};

// Keeps the whole file in memory. Entries are sorted by time (stable).
class SampleLog {
 public:
  // Reads a file. Fails if it does not exist, is not a recording, has another version or needs more
  // than `memory` bytes. Damaged parts are dropped and reported by damages().
  static Result<SampleLog> Read(const std::string& path, uint64_t memory = ReadingMemory());
  static Result<SampleLog> Parse(LogBytes file);

  const LogHeader& header() const { return summary_.header; }
  const std::vector<SampleEntry>& entries() const { return entries_; }
  uint64_t end_ns() const { return summary_.end_ns; }
  uint64_t lost() const { return summary_.discarded; }
  const std::vector<std::string>& damages() const { return summary_.damages; }

 private:
  bool AddPacket(const LogPacket& packet, std::string_view content);

  std::string bytes_;  // the file, to which the entries refer
  LogSummary summary_;
  std::vector<SampleEntry> entries_;
};

}  // namespace jprof::profile
