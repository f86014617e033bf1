// Writes a trace in Common Trace Format 1.8 whose records were made by the kernel: a stream for each
// processor, in packets of which each is a file (docs/EVENTS.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::record {

class PacketWriter {
 public:
  // Makes the directory with the metadata and the specification. `counters` are the names of what
  // the event kernel::processor::counters contains.
  static Result<PacketWriter> Create(const std::filesystem::path& directory, uint32_t processors,
                                     const std::vector<std::string>& counters);

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
  };
  Result<void> WritePacket(uint32_t processor, uint64_t lost);

  std::filesystem::path directory_;
  uint8_t uuid_[16] = {};
  std::vector<Stream> streams_;
  uint64_t dropped_ = 0;
};

}  // namespace jprof::record
