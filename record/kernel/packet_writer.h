// Writes a trace in Common Trace Format 1.8 whose records were made by the kernel: a stream for
// each processor, in packets of which each is a file (docs/EVENTS.md).
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::record {

// What happens when a trace has reached its limit.
enum class TraceLimitMode : uint8_t {
  kNormal,      // later records are dropped and counted
  kWrap,        // the oldest packet of the processor is removed
  kContinuous,  // there is no limit
};

struct TraceLimit {
  TraceLimitMode mode = TraceLimitMode::kContinuous;
  uint64_t bytes = 256 << 20;  // of all processors together
};

class PacketWriter {
 public:
  // Makes the directory with the metadata and the specification. `counters` are the names of what
  // the event kernel::processor::counters contains.
  static Result<PacketWriter> Create(const std::filesystem::path& directory, uint32_t processors,
                                     const std::vector<std::string>& counters,
                                     const TraceLimit& limit = {});

  // Adds a record: time, id, fields. One that is older than the record before it, because an
  // interrupt came between its time and its writing, gets the time of that one.
  void Add(uint32_t processor, std::string_view record);

  // Writes packets that are full and, with `all`, also the others. `lost` is the number of records
  // that the processor could not write so far. Fails if a file cannot be written; the records are
  // then dropped and counted as lost.
  Result<void> Flush(uint32_t processor, uint64_t lost, bool all);

  uint64_t dropped() const { return dropped_; }

 private:
  struct Stream {
    std::string bytes;  // of the packet without its head
    uint64_t begin = 0, last = 0;
    uint32_t records = 0;
    uint32_t number = 0;  // of the packet
    // The sizes of the packets that exist; the last one has the number before `number`.
    std::deque<uint64_t> sizes;
    uint64_t written = 0;  // their sum
  };
  Result<void> WritePacket(uint32_t processor, uint64_t lost);
  // Removes the oldest packets of a stream until there is room for more bytes. Returns whether
  // there is.
  bool MakeRoom(uint32_t processor, uint64_t bytes);
  std::filesystem::path PathOf(uint32_t processor, uint32_t number) const;

  std::filesystem::path directory_;
  uint8_t uuid_[16] = {};
  std::vector<Stream> streams_;
  TraceLimit limit_;
  uint64_t dropped_ = 0;
};

}  // namespace jprof::record
