#include <algorithm>

#include "profile/read/reader.h"
#include "profile/read/reader_records.h"

namespace jprof::profile {

Result<std::vector<LiveRecord>> Reader::ReadLive(uint64_t memory) const {
  if (header_.live_records == 0) return {};
  const ReaderFile file = OpenFile(kLiveFile);
  const uint64_t room = file.size() / sizeof(LiveRecord);
  if (room < header_.live_records) {
    damages_.Add("live: cut off: live objects are missing",
                 fmt::format("{} of {} records exist", room, header_.live_records));
  }
  auto records =
      ReadRecords<LiveRecord>(file, std::min(room, header_.live_records), memory,
                              [](const LiveRecord& record) { return record.first != 0; });
  if (!records) return NotEnoughMemory(directory_ + "/" + kLiveFile, memory);
  return *std::move(records);
}

Result<std::vector<KernelCounts>> Reader::ReadKernelCounts(uint64_t memory) const {
  const ReaderFile file = OpenFile(kKernelCountsFile);
  auto records =
      ReadRecords<KernelCounts>(file, file.size() / sizeof(KernelCounts), memory,
                                [](const KernelCounts& counts) { return counts.node != 0; });
  if (!records) return NotEnoughMemory(directory_ + "/" + kKernelCountsFile, memory);
  return *std::move(records);
}

}  // namespace jprof::profile
