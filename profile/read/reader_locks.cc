#include <algorithm>

#include "profile/read/reader.h"
#include "profile/read/reader_records.h"

namespace jprof::profile {

Result<std::vector<LockEdge>> Reader::ReadLockEdges(uint64_t memory) const {
  if (header_.lock_edges == 0) return {};
  const ReaderFile file = OpenFile(kLocksFile);
  const uint64_t room = file.size() / sizeof(LockEdge);
  if (room < header_.lock_edges) {
    damages_.Add("locks: cut off: relations of locks are missing",
                 fmt::format("{} of {} exist", room, header_.lock_edges));
  }
  auto edges = ReadRecords<LockEdge>(file, std::min(room, header_.lock_edges), memory,
                                     [](const LockEdge& edge) { return edge.count != 0; });
  if (!edges) return NotEnoughMemory(directory_ + "/" + kLocksFile, memory);
  const size_t invalid = std::erase_if(*edges, [](const LockEdge& edge) {
    return edge.kind > LockEdgeKind::kOrder || edge.time_ns < 0;
  });
  if (invalid != 0)
    damages_.Add("locks: relations are not valid: left out", fmt::format("{}", invalid));
  return *std::move(edges);
}

}  // namespace jprof::profile
