#include <algorithm>

#include "profile/read/reader.h"

namespace jprof::profile {

std::vector<LiveRecord> Reader::ReadLive() const {
  if (header_.live_records == 0) return {};
  const ReaderFile file = OpenFile(kLiveFile);
  const uint64_t room = file.size() / sizeof(LiveRecord);
  if (room < header_.live_records) {
    damages_.Add("live: cut off: live objects are missing",
                 fmt::format("{} of {} records exist", room, header_.live_records));
  }
  std::vector<LiveRecord> records(std::min(room, header_.live_records));
  records.resize(file.ReadAt(0, records.data(), records.size() * sizeof(LiveRecord)) /
                 sizeof(LiveRecord));
  return records;
}

}  // namespace jprof::profile
