// Writes and reads the file `memory` of a recording of `jprof itrace --memory`: which addresses the
// traced threads read and wrote, in the order of execution of each thread. See
// docs/PROFILE_FORMAT.md.
//
// It is a log (profile/log/log_format.h). The records of a packet are of one thread. The content of
// a packet begins with a byte, which is 1 if the packet begins a burst: what the thread accessed
// before is not known. Then each record consists of LEB128 numbers:
//
// - twice the number of its site, plus 1 if it has a length of its own. Sites are numbered within
//   the packet, from 0;
// - if the site is new: the address of its instruction relative to that of the packet's previous
//   new site (signed), and its length * 4 + access;
// - the address relative to the site's previous one, or for a new site to the previous record's
//   (signed);
// - the length in bytes, if it has one of its own.
//
// The times of the records are interpolated between those of the packet, which lasts a millisecond
// at most.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/flat_map.h"
#include "common/result.h"
#include "profile/log/thread_packets.h"
#include "profile/read/reading_memory.h"

namespace jprof::profile {

inline constexpr char kMemoryFile[] = "memory";
inline constexpr LogFormat kMemoryFormat = {
    "jprofmem", 1, "a trace of references to memory by jprof itrace", "trace again"};

enum class MemoryAccess : uint8_t { kLoad, kStore, kModify };

// Describes one access: the instruction at `code` read or wrote `bytes` bytes at `address`. A
// string instruction with a rep prefix is one access to all that it covered.
struct MemoryReference {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC; between readings of the clock an estimate
  uint32_t pid = 0, tid = 0;
  uint64_t code = 0, address = 0, bytes = 0;
  MemoryAccess access = MemoryAccess::kLoad;
  bool begins = false;  // a burst, see above
  bool operator==(const MemoryReference&) const = default;
};

// Describes the accesses of one instruction in a packet.
struct ReferencingSite {
  uint64_t code = 0, bytes = 0, last = 0;
  MemoryAccess access = MemoryAccess::kLoad;
};
// Contains what an encoded record refers to: the sites and the record before it in its packet.
struct ReferencingSites {
  std::vector<ReferencingSite> sites;
  FlatMap numbers;  // of sites, by key
  uint64_t code = 0, address = 0;
};

// Writes a file. One thread at a time may call it: callers serialise.
class MemoryWriter {
 public:
  Result<void> Open(const std::string& path, const LogHeader& header);
  void Add(const MemoryReference& reference);
  // Writes what is buffered and the end, and closes the file. Fails if something could not be
  // written.
  Result<void> Close(uint64_t end_ns) { return packets_.Close(end_ns); }

  uint64_t records() const { return records_; }

 private:
  ThreadPackets<ReferencingSites, size_t{256} << 10> packets_;
  uint64_t records_ = 0;
};

// Keeps a file of references in memory, encoded (2 to 5 bytes per record).
class MemoryLog : public PacketLog {
 public:
  // Reads a file. Fails if it does not exist, is not such a log, has another version or needs more
  // than `memory` bytes. Damaged parts are dropped and reported by damages().
  static Result<MemoryLog> Read(const std::string& path, uint64_t memory = ReadingMemory());
  static Result<MemoryLog> Parse(LogBytes file);

  // Calls `use` for each record, in the order of execution within a thread. Threads are interleaved
  // in pieces that overlap in time. If parts are lost, each piece begins a burst.
  void ForEach(const std::function<void(const MemoryReference&)>& use) const;
};

}  // namespace jprof::profile
