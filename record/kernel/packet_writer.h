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
  kWrap,        // the oldest packets of the processor are removed
  kContinuous,  // there is no limit
};

struct TraceLimit {
  TraceLimitMode mode = TraceLimitMode::kContinuous;
  uint64_t bytes = 256 << 20;  // of all processors together; each has an equal share
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

  // Makes what was added so far to processor 0, the names of threads, a packet that is never
  // removed.
  void KeepFirst();

  // Writes packets that are full and, with `all`, also the others. `lost` is the number of records
  // that the processor could not write so far. Fails if a file cannot be written; the records are
  // then dropped and counted.
  Result<void> Flush(uint32_t processor, uint64_t lost, bool all);

  // Writes how many records each processor has lost, where no packet says so. Call it at the end.
  Result<void> Close();

  // Returns the number of records that found no room in the trace.
  uint64_t dropped() const { return dropped_; }

 private:
  struct Stream {
    std::string bytes;  // of the packet without its head
    uint64_t begin = 0, last = 0;
    uint32_t records = 0;
    uint32_t number = 0;  // of the packet
    // The sizes of the packets that exist; the last one has the number before `number`.
    std::deque<uint64_t> sizes;
    uint64_t written = 0;            // their sum
    uint64_t lost = 0, dropped = 0;  // records, by the kernel and by this writer
    uint64_t said = 0;               // their sum in the last packet
    bool is_full = false;            // no more packets are written
  };
  Result<void> WritePacket(uint32_t processor);
  void Drop(Stream& stream);
  // Removes the oldest packets of a stream until there is room for more bytes. Returns whether
  // there is.
  bool MakeRoom(uint32_t processor, uint64_t bytes);
  std::filesystem::path PathOf(uint32_t processor, uint32_t number) const;

  std::filesystem::path directory_;
  uint8_t uuid_[16] = {};
  std::vector<Stream> streams_;
  TraceLimit limit_;
  uint64_t packet_bytes_ = 1 << 20;
  uint64_t dropped_ = 0;
};

}  // namespace jprof::record
