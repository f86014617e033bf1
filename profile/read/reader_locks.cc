#include <algorithm>

#include "profile/read/reader.h"

namespace jprof::profile {

std::vector<LockEdge> Reader::ReadLockEdges() const {
  if (header_.lock_edges == 0) return {};
  const ReaderFile file = OpenFile(kLocksFile);
  const uint64_t room = file.size() / sizeof(LockEdge);
  if (room < header_.lock_edges) {
    damages_.Add("locks: cut off: relations of locks are missing",
                 fmt::format("{} of {} exist", room, header_.lock_edges));
  }
  std::vector<LockEdge> edges(std::min(room, header_.lock_edges));
  edges.resize(file.ReadAt(0, edges.data(), edges.size() * sizeof(LockEdge)) / sizeof(LockEdge));
  const size_t read = edges.size();
  std::erase_if(edges, [](const LockEdge& edge) {
    return edge.kind > LockEdgeKind::kOrder || edge.time_ns < 0;
  });
  if (edges.size() < read)
    damages_.Add("locks: relations are not valid: left out",
                 fmt::format("{}", read - edges.size()));
  return edges;
}

}  // namespace jprof::profile
