// Call trees in which the program's own bytecode counts (docs/WOVEN.md). Woven methods add to the
// nodes and keep the current node. Only what they cannot do is here: a thread's first event, new
// nodes, and virtual threads that are mounted or unmounted.
//
// - A woven node has the type kWoven. Its two words `entries` are one 64-bit count, and it has no
//   exits: each entry has exactly one.
// - Woven code identifies a node by its place: the distance of its address from that of a node
//   without children, which belongs to no recording. So place 0, a thread's current node before its
//   first event, is a node that can be read like all others. A place is a multiple of 64, and slots
//   contain place / 64.
// - Children are found as follows, in JprofCounter.java and here. A node has eight slots, in the
//   memory of `exits` and `child`. A child has the slot of its method id, modulo 8, and may be
//   found there: its own `ref` identifies its method. If two children compete for a slot, there is
//   a hash table of all children, by method id: 2^n ChildBlocks, of which the first counts the
//   children in the method id of its `ref`. The low 28 bits of `more` are its index, the high ones
//   are n. Bits of the hash choose the record and the place in it where the search begins. Slots
//   are then a cache of the table: of the children that compete, the most frequent one has the
//   slot, and each 64th time another one that is found in the table.
// - With call sites a method's children are sites, and what it calls is below these. A method makes
//   a site current before it calls, and the site stays current until its next call or its end. A
//   table counts in `next` of its first record how often a site was not in its slot.
// - There is no stack of frames. While a virtual thread is unmounted, its timeline has at most one
//   frame above the root, with the node that was current.
// - A label is a child of the method that has set it, and the current node while it is set. Another
//   label of that method takes its place.
// - Recursion is folded from the start or, above half of the memory, for new contexts only.
#pragma once

#include <cstdint>
#include <span>

#include "common/result.h"
#include "jprof/engine/session.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// The nodes of one recording are in a region of this many bytes. JprofCounter.java has the
// same number.
inline constexpr uint64_t kWovenRegion = uint64_t{1} << 34;

// The address from which places are counted, which is that of a node of zeros. It is 0
// before PrepareWoven.
extern uint64_t woven_origin;
// Returns the addresses that nodes can have. Call this before the first recording. Fails if this
// process does not have enough addresses.
Result<profile::AddressRange> PrepareWoven();

inline uint64_t PlaceOf(const profile::Node* node) {
  return reinterpret_cast<uint64_t>(node) - woven_origin;
}
// Returns what slots contain for a node.
inline uint32_t ChildOf(const profile::Node* node) {
  return static_cast<uint32_t>(PlaceOf(node) / sizeof *node);
}

// Returns the node at a place that woven code has given, or null if it does not belong to
// this recording.
inline profile::Node* WovenNode(const profile::Node* nodes, uint64_t place) {
  const uint64_t offset = place - PlaceOf(nodes);
  return offset != 0 && offset < kWovenRegion
             ? reinterpret_cast<profile::Node*>(place + woven_origin)
             : nullptr;
}

// Returns the root of the thread's current timeline.
inline profile::Node* WovenRoot(const Thread& thread) {
  return thread.nodes + thread.timeline.record->root;
}

inline bool IsLabel(const profile::Node* node) {
  return profile::TypeOf(node->ref) == FrameKind::kLabel;
}

inline bool IsSite(const profile::Node* node) {
  return profile::TypeOf(node->ref) == FrameKind::kSite;
}

// Returns the node of the method that runs on the thread, or null if it is not known. After the
// exit of a method that an earlier recording has counted it is the root. Can be called in
// signal handlers.
inline profile::Node* CurrentNode(const Thread& thread) {
  if (thread.woven_current != nullptr) {
    const uint64_t place = __atomic_load_n(thread.woven_current, __ATOMIC_RELAXED);
    profile::Node* const node = WovenNode(thread.nodes, place);
    if (node == nullptr) return place != PlaceOf(thread.nodes) ? WovenRoot(thread) : nullptr;
    return IsSite(node) ? thread.nodes + node->parent : node;
  }
  return thread.cursor.top != nullptr ? thread.cursor.top[-1].node : nullptr;
}

// Returns the calling thread's state, which is created at its first event, or null if the
// thread is not recorded.
Thread* WovenThread(Session& session);

// Returns the child of `parent` for the method, or for a class of objects or a label if that is the
// kind. It is created if necessary. Never returns null: without space it is the node for such
// contexts, and the entry is counted as overflow.
profile::Node* WovenChild(Thread& thread, profile::Node* parent, profile::MethodId method,
                          FrameKind kind = FrameKind::kWoven);

// Returns the child of `parent` for a site, which is created if necessary, or `parent` itself if
// there is no space, or if it is no method.
profile::Node* WovenSite(Thread& thread, profile::Node* parent, profile::MethodId site);

// Returns the node that WovenChild has returned for children of `parent` without space.
profile::Node* WovenOverflow(Thread& thread, profile::Node* parent);

// Returns the node that runs at an instruction of optimised code while `current` is the thread's
// current node. Compilers move instructions past the stores of the current node: out of the range
// of a method that is inlined there, or into it.
//
// `innermost_first` contains the methods inlined into each other at that instruction; those without
// a node are skipped. Of a method with nodes at several sites of its caller it is the one with the
// most calls. Adds no nodes. Can be called in signal handlers.
profile::Node* WovenLeaf(const Thread& thread, profile::Node* current,
                         std::span<const profile::MethodId> innermost_first);

// Switches to a virtual thread that is mounted on the thread, or back to the thread's own timeline
// if `identity` is 0. `current` is the current node before that; returns the one after it. Returns
// null if there is no space for a tree of the virtual thread: it must not be recorded while it is
// mounted, and the next switch gets NodeBeforeMount as its current node.
profile::Node* WovenSwitch(Thread& thread, uint64_t identity, profile::Node* current);

inline profile::Node* NodeBeforeMount(const Thread& thread) { return thread.cursor.top[-1].node; }

}  // namespace jprof::engine
