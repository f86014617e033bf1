// The calling context tree of one timeline. Only the thread that the timeline is on may write it.
//
// - These functions are for slow paths: the fast path reads the three child slots of a node
//   itself (events.h).
// - A parent's index is always below its children's.
// - If half of the tree's memory is used, recording continues with recursion folded, see FoldIfDue.
// - If it is full, new contexts are attributed to the parent's overflow child and counted,
//   never dropped.
#pragma once

#include <cstdint>

#include "jprof/engine/thread.h"
#include "profile/files/writer.h"

namespace jprof::engine {

struct Child {
  profile::Node* node;
  bool created;
};

// Returns the child of `parent` for the method in `ref`, which is created if necessary. Never
// returns null. `key` distinguishes children: it is the method or, in sampled trees, the whole
// method reference.
Child FindOrAddChild(Thread& thread, profile::Node* parent, profile::MethodRef ref, uint32_t key);
inline Child FindOrAddChild(Thread& thread, profile::Node* parent, profile::MethodRef ref) {
  return FindOrAddChild(thread, parent, ref, IndexOf(profile::MethodOf(ref)));
}

// Returns the child of `parent` for a site of its method, or `parent` itself if there is no space.
profile::Node* FindOrAddSite(Thread& thread, profile::Node* parent, profile::MethodRef site);

// Returns a new child that is not among its parent's children yet or, where recursion is folded, an
// ancestor. Returns null if there is no space. It is for trees that keep a node's children in
// another way (woven.h).
profile::Node* AddUnplacedChild(Thread& thread, profile::Node* parent, profile::MethodRef ref);
// Returns the timeline's own node, below its root, for contexts that do not fit. Requires a `ref`
// with kOverflowMethod.
profile::Node* LastOverflow(Thread& thread, profile::MethodRef ref);
// Returns a new node for contexts that do not fit below `parent`, which is not among its children
// yet, or LastOverflow if there is no space.
profile::Node* AddOverflowChild(Thread& thread, const profile::Node* parent,
                                profile::MethodRef ref);
// Returns a new node below a root of any of the thread's trees, or null if there is no space. It is
// not among the root's children, so nothing finds it again. Files have nodes after their parents:
// the current tree may have unused nodes before this root, so none of these is taken.
profile::Node* AddRow(Thread& thread, uint32_t root, profile::MethodRef ref);
// Returns consecutive zeroed records for anything else, or null if there is no space.
profile::Node* AddRecords(Thread& thread, uint32_t count);

// Folds recursion once half of the cap is used: the thread's timeline then begins a second tree
// under its root, in which a method that is already on the path does not create a new context.
// Previous counts stay in the first tree; the second one takes as much space as if recursion had
// been folded from the start. The frames on the stack move to the second tree. Call this before
// a path is followed.
void FoldIfDue(Thread& thread);

// Changes the type of `node` to that of `ref`. Its counts as another type move to a
// superseded record if they justify one, or in any case if `always`, as when a counter
// approaches 2^31 (same method reference).
void Retype(Thread& thread, profile::Node* node, profile::MethodRef ref, bool always);

// Moves the counts of a node to a superseded record if `count`, one of them, gets too large.
// Returns whether it did.
bool MoveIfLarge(Thread& thread, profile::Node* node, uint32_t count);
// Counts an entry or exit. A count is at its largest where Retype found no space for another node:
// the event is then counted as dropped.
void IncrementOrDrop(Thread& thread, uint32_t& count);

// Returns the root of a new timeline, or 0 if there is no space. The node behind it, root + 1, is
// kept as its overflow node.
uint32_t MakeRoot(profile::Writer& writer, Timeline& timeline);

}  // namespace jprof::engine
