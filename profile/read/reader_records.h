// Reads a file of records of one size, which may be larger than memory, and have holes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "profile/read/reader_file.h"

namespace jprof::profile {

// Returns those of the first `count` records for which is_used(record) is true, or nothing if they
// need more than `memory` bytes. Requires that it is false for a record of zeros.
template <class Record, class IsUsed>
std::optional<std::vector<Record>> ReadRecords(const ReaderFile& file, uint64_t count,
                                               uint64_t memory, IsUsed is_used) {
  constexpr uint64_t kChunk = 1 << 14;
  std::vector<Record> records, chunk(std::min(count, kChunk));
  for (uint64_t start = 0; (start = file.NextData(start * sizeof(Record)) / sizeof(Record)) < count;
       start += chunk.size()) {
    if (records.size() > memory / sizeof(Record)) return std::nullopt;
    const uint64_t wanted = std::min<uint64_t>(chunk.size(), count - start);
    const uint64_t got =
        file.ReadAt(start * sizeof(Record), chunk.data(), wanted * sizeof(Record)) / sizeof(Record);
    std::copy_if(chunk.begin(), chunk.begin() + static_cast<ptrdiff_t>(got),
                 std::back_inserter(records), is_used);
  }
  return records;
}

}  // namespace jprof::profile
