// The calling context tree of one timeline. Owner and only writer: the thread that the timeline is
// on.
//
// - Slow path only: the fast path reads the three child slots of a node itself (events.h).
// - Invariant: a parent's index is below its children's.
// - Half full: recording continues with recursion folded, see FoldIfDue.
// - Full: new contexts are attributed to the parent's overflow child and counted, never dropped.
#pragma once

#include <cstdint>

#include "jprof/engine/thread.h"

namespace jprof::engine {

struct Child {
  profile::Node* node;
  bool created;
};

// The child of `parent` for the method in `word` (PackMethod), created if necessary. Never null.
// `key`: what distinguishes children: the method or, in sampled trees, the whole method reference.
Child FindOrAddChild(Thread& thread, profile::Node* parent, uint32_t word, uint32_t key);
inline Child FindOrAddChild(Thread& thread, profile::Node* parent, uint32_t word) {
  return FindOrAddChild(thread, parent, word, IndexOf(profile::MethodOf(word)));
}

// For trees that keep a node's children in another way (woven.h). A new child that is not among its
// parent's children yet or, where recursion is folded, an ancestor; null: no space.
profile::Node* AddUnplacedChild(Thread& thread, profile::Node* parent, uint32_t word);
// Returns the timeline's own node, below its root, for contexts that do not fit. Requires a `word`
// with kOverflowMethod.
profile::Node* LastOverflow(Thread& thread, uint32_t word);
// Returns a new node for contexts that do not fit below `parent`, which is not among its children
// yet, or LastOverflow if there is no space.
profile::Node* AddOverflowChild(Thread& thread, const profile::Node* parent, uint32_t word);
// Consecutive zeroed records for anything else; null: no space.
profile::Node* AddRecords(Thread& thread, uint32_t count);

// Call it before a path is followed. Once half of the cap is used, the thread's timeline begins a
// second tree under its root. In that tree a method that is already on the path does not create a
// new context. Previous counts stay in the first tree; the second one takes as much space as if
// recursion had been folded from the start. The frames on the stack move to the second tree.
void FoldIfDue(Thread& thread);

// Changes the type of `node` to that of `word`. Its counts as another type move to a superseded
// record if they justify one. Also called when a counter approaches 2^31 (same word): then always.
void Retype(Thread& thread, profile::Node* node, uint32_t word, bool always);

// The root of a new timeline: nodes root (and root + 1, kept as its overflow node). 0 = no room.
uint32_t MakeRoot(Session& session, Timeline& timeline);

}  // namespace jprof::engine
