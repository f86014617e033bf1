// Counts the locks of native code (docs/LOCKS.md) in the recording of C and C++ functions: in the
// context that the hooks know or, without hooks, below the function that calls.
//
// - A lock is a child of the node of its context, as in JprofHeld.java; the metrics are those of
//   profile/files/lock_metrics.h. The thread has a list of the locks that it holds.
// - Everything is done within RareWork: what a signal handler, or this library itself, does with
//   locks meanwhile is not counted.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "jprof/engine/session.h"
#include "jprof/hookit/lock_calls.h"
#include "jprof/setup/lock_edges.h"
#include "profile/files/lock_edge.h"

namespace jprof::hookit {

struct HeldLock;
class HeldLocks;

class NativeLocks {
 public:
  // Requires that `session`, whose profile has the files of locks, outlives this object.
  NativeLocks(engine::Session& session, bool lite)
      : session_(session), timed_(!lite), edges_(session.writer()) {}

  void Contended(engine::Thread& thread, LockRequest& request);
  void End(engine::Thread& thread, const LockRequest& request, bool taken);
  void Release(engine::Thread& thread, const void* lock);
  void Pause(engine::Thread& thread, const void* lock);
  void Resume(engine::Thread& thread, const void* lock);

  engine::Session& session() const { return session_; }

 private:
  profile::Node* LeafOf(engine::Thread& thread, const LockRequest& request);
  profile::Node* Child(engine::Thread& thread, profile::Node* parent, uint64_t method);
  uint32_t IndexOf(const profile::Node* node) const {
    return static_cast<uint32_t>(node - session_.writer().nodes());
  }
  void Take(HeldLocks& held, const LockRequest& request, profile::Node* leaf);
  void Order(HeldLocks& held, const LockRequest& request, const profile::Node* leaf);
  void AddOrder(HeldLocks& held, const profile::LockEdge& order);
  void AddWait(const LockRequest& request, profile::Node* leaf);
  void AddHold(const HeldLock& lock);
  // Adds to a metric beyond the first.
  void Add(uint32_t node, size_t metric, int64_t amount);
  std::atomic<uint64_t>& OwnerOf(const void* lock);
  void SetOwner(const void* lock, uint32_t node);

  engine::Session& session_;
  const bool timed_;
  setup::LockEdges edges_;
  // The node in which a lock was taken last, by its address: an address of which some bits are in
  // the upper half, and the node in the lower one. Locks compete for a place.
  std::array<std::atomic<uint64_t>, 4096> owners_ = {};
};

// Begins to count, or ends if `locks` is null. What was given before must remain.
void CountLocks(NativeLocks* locks);

}  // namespace jprof::hookit
