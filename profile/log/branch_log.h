// Writes and reads the file `branches` of a recording of `jprof itrace`: what the traced threads
// executed, as a sequence of branches. The process that traces writes it. See
// docs/PROFILE_FORMAT.md.
//
// The directory also has `samples` (profile/log/sample_log.h, without samples: the mappings, names,
// forks and exits of the traced process), `recording.json` and, for a JVM, `jitlog`, so that
// model/ticks/recording.h can resolve an address at a given time.
//
// It is a log (profile/log/log_format.h). The records of a packet are of one thread. Packets of
// different threads may be in any order, records of one thread are in the order of execution.
//
// Each record consists of a byte with its kind (low 4 bits) and the set of its optional fields,
// then LEB128 numbers: `from` relative to the previous record's `to` (absent for kBegin), `to`
// relative to `from` (for kBegin to the previous `to`; absent for kEnd), instructions, and, if
// present, repeats and the time since the previous record. The first record is relative to a `to`
// of 0 and to the packet's begin_ns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "profile/log/thread_packets.h"
#include "profile/read/reading_memory.h"

namespace jprof::profile {

inline constexpr char kBranchesFile[] = "branches";
inline constexpr LogFormat kBranchFormat = {"jprofbra", 2, "a trace of jprof itrace",
                                            "trace again"};

// States why the sequence of instructions left `from` for `to`.
enum class BranchKind : uint8_t {
  kBegin,         // tracing of the thread begins at `to`; `from` is 0
  kJump,          // jmp, direct or indirect
  kTaken,         // a conditional branch that was taken
  kNotTaken,      // one that was not; written only if requested
  kCall,          // call
  kReturn,        // ret
  kSystemCall,    // a system call; `to` is the instruction after it
  kSignal,        // a signal interrupted the thread at `from`; `to` is its handler
  kSignalReturn,  // the handler's end; `to` is where the thread continues
  kEnd,           // tracing of the thread ends before the instruction `from`; `to` is 0
};

// Describes one record. `instructions` is the number executed since the thread's previous record,
// including the branch itself. An instruction with a rep prefix counts once, however often it
// repeats, and a system call counts once; the kernel's instructions are not counted. `repeats` is
// the number of iterations of all rep instructions among `instructions`, or 0 if there was none.
struct Branch {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC; between readings of the clock an estimate
  uint32_t pid = 0, tid = 0;
  BranchKind kind = BranchKind::kJump;
  uint64_t from = 0, to = 0;
  uint64_t instructions = 0;
  uint64_t repeats = 0;
  bool operator==(const Branch&) const = default;
};

struct TracedThread {
  uint32_t pid = 0, tid = 0;
  bool operator==(const TracedThread&) const = default;
};

// Contains what an encoded record refers to: the record before it in its packet.
struct BranchBefore {
  uint64_t to = 0, time = 0;
};

// Writes a file. One thread at a time may call it: callers serialise.
class BranchWriter {
 public:
  Result<void> Open(const std::string& path, const LogHeader& header);
  void Add(const Branch& branch);
  // Writes what is buffered and the end, and closes the file. Fails if something could not be
  // written.
  Result<void> Close(uint64_t end_ns) { return packets_.Close(end_ns); }

  uint64_t records() const { return records_; }  // number of records added

 private:
  ThreadPackets<BranchBefore, size_t{64} << 10> packets_;
  uint64_t records_ = 0;
};

// Keeps a file of branches in memory, encoded (4 to 8 bytes per record).
class BranchLog : public PacketLog {
 public:
  // Reads a file. Fails if it does not exist, is not a trace, has another version or needs more
  // than `memory` bytes. Damaged parts are dropped and reported by damages().
  static Result<BranchLog> Read(const std::string& path, uint64_t memory = ReadingMemory());
  static Result<BranchLog> Parse(LogBytes file);

  // Calls `use` for each record, in the order of execution within a thread. Threads are interleaved
  // in pieces of some thousand records that overlap in time.
  void ForEach(const std::function<void(const Branch&)>& use) const;
  // Returns the threads that have records, in the order in which ForEach comes to them.
  std::vector<TracedThread> Threads() const;
  std::vector<Branch> All() const;  // 56 bytes per record: for short traces only
};

}  // namespace jprof::profile
