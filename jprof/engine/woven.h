// Call trees in which the program's own bytecode counts (docs/WOVEN.md). Woven methods add to the
// nodes and keep the current node; only what they cannot do is here: a thread's first event, new
// nodes, and virtual threads that are mounted or unmounted.
//
// - A woven node has the type kWoven. Its two words `entries` are one 64-bit count, and it has no
//   exits: each entry has exactly one.
// - Woven code gives a node by its place: the distance of its address from that of a node without
//   children, which is no recording's. So place 0, a thread's current node before its first event,
//   is a node that can be read like all others. A place is a multiple of 64, and slots contain
//   place / 64.
// - Children are found as follows, in JprofCounter.java and here. A node has eight slots, in the
//   memory of `exits` and `child`. A child has the slot of its method id, modulo 8, and may be
//   found there: its own word says which method it is. If two children compete for a slot, there is
//   a hash table of all children, by method id: 2^n ChildBlocks, of which the first counts the
//   children in `word`. The low 28 bits of `more` are its index, the high ones are n. Slots are
//   then a cache of the table.
// - There is no stack of frames. While a virtual thread is unmounted, its timeline has at most one
//   frame above the root, with the node that was current.
// - Recursion is folded from the start or, above half of the memory, for new contexts only.
#pragma once

#include <cstdint>
#include <span>

#include "common/result.h"
#include "jprof/engine/session.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// Nodes of one recording are in a region of this many bytes. JprofCounter.java has the same number.
inline constexpr uint64_t kWovenRegion = uint64_t{1} << 34;

// The address from which places are counted, of a node of zeros. 0 before PrepareWoven.
extern uint64_t woven_origin;
// Call before the first recording. Returns the addresses that nodes can have. Error: this process
// does not have enough of them.
Result<profile::AddressRange> PrepareWoven();

inline uint64_t PlaceOf(const profile::Node* node) {
  return reinterpret_cast<uint64_t>(node) - woven_origin;
}
// As slots contain it.
inline uint32_t ChildOf(const profile::Node* node) {
  return static_cast<uint32_t>(PlaceOf(node) / sizeof *node);
}

// The node at a place that woven code has given; null: it is not one of this recording.
inline profile::Node* WovenNode(const profile::Node* nodes, uint64_t place) {
  const uint64_t offset = place - PlaceOf(nodes);
  return offset != 0 && offset < kWovenRegion
             ? reinterpret_cast<profile::Node*>(place + woven_origin)
             : nullptr;
}

// The root of the thread's current timeline.
inline profile::Node* WovenRoot(const Thread& thread) {
  return thread.nodes + thread.timeline.record->root;
}

// The node of the method that runs on the thread; null: not known. Callable in signal handlers.
// After the exit of a method that an earlier recording has counted it is the root.
inline profile::Node* CurrentNode(const Thread& thread) {
  if (thread.woven_current != nullptr) {
    const uint64_t place = __atomic_load_n(thread.woven_current, __ATOMIC_RELAXED);
    profile::Node* const node = WovenNode(thread.nodes, place);
    const bool is_recorded = place != PlaceOf(thread.nodes);
    return node != nullptr || !is_recorded ? node : WovenRoot(thread);
  }
  return thread.cursor.top != nullptr ? thread.cursor.top[-1].node : nullptr;
}

// The calling thread's state, created at its first event. Null: it is not recorded.
Thread* WovenThread(Session& session);

// The child of `parent` for the method, created if necessary. Never null: without space it is the
// node that stands for such contexts, and the entry is counted as overflow.
profile::Node* WovenChild(Thread& thread, profile::Node* parent, profile::MethodId method);

// The node that WovenChild has returned for children of `parent` without space.
profile::Node* WovenOverflow(Thread& thread, profile::Node* parent);

// The node that runs at an instruction of optimised code while `current` is the thread's current
// node. Compilers move instructions past the stores of the current node: out of the range of a
// method that is inlined there, or into it.
//
// `innermost_first`: the methods inlined into each other at that instruction; those without a node
// are skipped. Adds no nodes. Callable in signal handlers.
profile::Node* WovenLeaf(const Thread& thread, profile::Node* current,
                         std::span<const profile::MethodId> innermost_first);

// A virtual thread is mounted on the thread; `identity` 0: none is mounted any more. `current` is
// the current node before that; returns the one after it. Returns null if there is no space for a
// tree of the virtual thread: it must not be recorded while it is mounted, and the next switch gets
// NodeBeforeMount as its current node.
profile::Node* WovenSwitch(Thread& thread, uint64_t identity, profile::Node* current);

inline profile::Node* NodeBeforeMount(const Thread& thread) { return thread.cursor.top[-1].node; }

}  // namespace jprof::engine
