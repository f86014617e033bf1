// Sums the locks of a profile of `jprof locks` by class and by calling context, and finds orders of
// taking them that can end in a deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/lock_kind.h"
#include "common/result.h"
#include "model/tree/names.h"
#include "model/tree/source.h"

namespace jprof::model {

struct LockCounts {
  uint64_t gets = 0;    // times that it was taken
  uint64_t nonrec = 0;  // of these, times that the thread did not have it already
  uint64_t slow = 0;    // times that a thread had to wait for it
  uint64_t wait_ns = 0;
  uint64_t hold_ns = 0;  // 0 if it was not measured

  uint64_t rec() const { return gets > nonrec ? gets - nonrec : 0; }
  void Add(const LockCounts& other);
};

inline constexpr size_t kNoContext = ~size_t{0};

// A method and, as another path, the one that calls it.
struct LockPath {
  uint32_t caller = 0;  // in LockTable::paths; 0 if there is none
  profile::MethodId method{};
};

// A calling context in which locks of one class are taken, on any thread.
struct LockContext {
  size_t lock = 0;  // in LockTable::locks
  // Is the same number for locks of which one may exclude the other: of one class, or read and
  // write locks of one class.
  size_t family = 0;
  uint32_t path = 0;  // in LockTable::paths: the method that takes it; 0 if there is none
  LockCounts counts;
};

// Waiting in one context for locks that were taken in another one.
struct LockWait {
  size_t waiter = 0;
  size_t owner = kNoContext;  // if the owner is not known
  uint64_t count = 0;
  uint64_t time_ns = 0;
};

struct Lock {
  profile::MethodId type{};  // its class and kind
  LockKind kind = LockKind::kMonitor;
  LockCounts counts;
  std::vector<size_t> contexts;  // the most contended first
  std::vector<LockWait> waits;   // the longest first
};

// States that a lock was asked for in context `to` by a thread that had one from context `from`.
struct LockOrder {
  size_t from = 0;
  size_t to = 0;
  uint32_t from_object = 0;  // identity hashes
  uint32_t to_object = 0;
};

// Orders that contradict each other: threads that do this at the same time wait for each other
// forever.
struct LockCycle {
  // Is true if the orders are of the same objects. Else they are only of the same classes, and the
  // objects may never be the same.
  bool same_objects = false;
  std::vector<LockOrder> orders;
};

struct LockTable {
  bool timed = false;       // whether hold times were measured
  double elapsed_ns = 0;    // recorded time; 0 if the recording has not ended
  std::vector<Lock> locks;  // the most contended first, then the most taken
  std::vector<LockContext> contexts;
  std::vector<LockPath> paths = {{}};  // the first one is no path
  std::vector<LockCycle> cycles;       // those of the same objects first
  Names names;

  // Returns the method that takes the lock, then its callers, at most so many.
  std::vector<profile::MethodId> PathOf(const LockContext& context, size_t most) const;
  // Returns HOLD in percent of the recorded time, or 0 if that is not known.
  double Utilisation(const LockCounts& counts) const;
};

// Loads the table. Fails (wrong use) if the profile is not one of `jprof locks`.
Result<LockTable> LoadLocks(Source& source);

}  // namespace jprof::model
