// The calling-context tree of one timeline. Owner: the thread it is on, the only writer.
// Slow path only: the fast path reads the three child slots of a node itself (events.h).
// Invariant: a parent's index is below its children's.
// Half full: recording goes on with recursion folded, see FoldIfDue.
// Full: new contexts are charged to the parent's overflow child and counted, never dropped.
#pragma once

#include <cstdint>

#include "jprof/engine/thread.h"

namespace jprof::engine {

struct Child {
  profile::Node* node;
  bool created;
};

// The child of `parent` for the method in `word` (PackMethod), made if need be. Never null.
// `key`: what distinguishes children: the method, or in sampled trees the whole word.
Child FindOrAddChild(Thread& thread, profile::Node* parent, uint32_t word, uint32_t key);
inline Child FindOrAddChild(Thread& thread, profile::Node* parent, uint32_t word) {
  return FindOrAddChild(thread, parent, word, IndexOf(profile::MethodOf(word)));
}

// To be called before a path is followed. Once half of the cap is used, the thread's timeline
// begins a second tree under its root, in which a method that is on the path already is not entered
// as a new context: what was counted until then stays where it is, and what follows takes as much
// room as if recursion had been folded from the start. The frames on the stack move to the new
// tree.
void FoldIfDue(Thread& thread);

// Makes `node`'s type that of `word`; what it counted as another type moves to a former record if
// it is worth one. Also called when a counter nears 2^31 (same word): then always.
void Retype(Thread& thread, profile::Node* node, uint32_t word, bool always);

// The root of a new timeline: nodes root (and root + 1, kept as its overflow node). 0 = no room.
uint32_t MakeRoot(Session& session, Timeline& timeline);

}  // namespace jprof::engine
