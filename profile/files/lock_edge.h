// The records of the file `locks`, in profiles of `jprof locks`.
#pragma once

#include <cstdint>

namespace jprof::profile {

// Relates two nodes of locks, which are those with a method of kMethodClass.
enum class LockEdgeKind : uint32_t {
  kWait = 0,   // a thread had to wait at `from` for a lock that another one had taken at `to`
  kOrder = 1,  // a thread asked for a lock at `to` while it had the one that it had taken at `from`
};
struct LockEdge {
  LockEdgeKind kind{};
  uint32_t from = 0;  // indexes of nodes; 0 if the owner is not known
  uint32_t to = 0;
  uint32_t from_object = 0;  // identity hashes of the locks of a kOrder; 0 for a kWait
  uint32_t to_object = 0;
  uint32_t reserved = 0;
  uint64_t count = 0;   // times that it happened; of a kOrder only that it did
  int64_t time_ns = 0;  // that was waited
};
static_assert(sizeof(LockEdge) == 40);

}  // namespace jprof::profile
