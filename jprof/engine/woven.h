// Call trees in which the program's own bytecode counts (docs/WOVEN.md). Woven methods add to the
// nodes and keep the current node; only what they cannot do is here: a thread's first event, new
// nodes, and virtual threads that are mounted or unmounted.
//
// - A woven node has the type kWoven. Its two words `entries` are one 64-bit count, and it has no
//   exits: each entry has exactly one.
// - Children are found as follows, in JprofCounter.java and here. A node has four slots, in the
//   memory of `exits` and `child`; a child has one of them by its method id, and may be found at
//   the address in it. An empty slot has the address of node 0, which is no method's. If two
//   children compete for a slot, `more` is the index of a hash table of all children: ChildBlocks,
//   2^n, of which the first has n's last index in `next` and counts the children in `word`. Slots
//   are then a cache of the table.
// - There is no stack of frames. While a virtual thread is unmounted, its timeline has at most one
//   frame above the root, with the node that was current.
// - Recursion is folded from the start or, above half of the memory, for new contexts only.
#pragma once

#include <cstdint>

#include "jprof/engine/session.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// Node addresses of one recording: bits above this many are the same. JprofCounter.java has the
// same number.
inline constexpr int kWovenRegionBits = 34;
inline constexpr uint64_t kWovenRegion = uint64_t{1} << kWovenRegionBits;

// The node at an address that woven code has given; null: it is not one of this recording.
inline profile::Node* WovenNode(const profile::Node* nodes, uint64_t address) {
  const uint64_t offset = address - reinterpret_cast<uint64_t>(nodes);
  return offset != 0 && offset < kWovenRegion ? reinterpret_cast<profile::Node*>(address) : nullptr;
}

// The node of the method that runs on the thread; null: not known. Callable in signal handlers.
inline profile::Node* CurrentNode(const Thread& thread) {
  if (thread.woven_current != nullptr)
    return WovenNode(thread.nodes, __atomic_load_n(thread.woven_current, __ATOMIC_RELAXED));
  return thread.cursor.top != nullptr ? thread.cursor.top[-1].node : nullptr;
}

// What all nodes of a recording are after its end: without children. Threads may still have one as
// their current node; it stays so until they enter a woven method of the next recording.
profile::Node FormerWovenNode();

// Makes node 0, the current one of threads that are not recorded, a node without children. Call
// before the first event.
void PrepareWovenNodes(profile::Node* nodes);

// The calling thread's state, created at its first event. Null: it is not recorded.
Thread* WovenThread(Session& session);

// The root of the thread's current timeline, ready for children.
profile::Node* WovenRoot(Thread& thread);

// The child of `parent` for the method, created if necessary. Never null: without space it is the
// node that stands for such contexts, and the entry is counted as overflow.
profile::Node* WovenChild(Thread& thread, profile::Node* parent, profile::MethodId method);

// The node that WovenChild has returned for children of `parent` without space.
profile::Node* WovenOverflow(Thread& thread, profile::Node* parent);

// A virtual thread is mounted on the thread; `identity` 0: none is mounted any more. `current` is
// the current node before that; returns the one after it.
profile::Node* WovenSwitch(Thread& thread, uint64_t identity, profile::Node* current);

}  // namespace jprof::engine
