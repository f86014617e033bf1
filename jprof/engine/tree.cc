#include "jprof/engine/tree.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "jprof/engine/session.h"

namespace jprof::engine {
namespace {

using profile::ChildBlock;
using profile::ChildSlot;
using profile::MethodRef;
using profile::Node;

constexpr uint32_t kFirstChunk = 64;          // 4 KiB: most threads are small
constexpr uint32_t kLargestChunk = 16 << 10;  // 1 MiB
// With fewer calls than this, a type change does not justify a superseded record: they count as the
// new type.
constexpr uint32_t kWorthSuperseding = 8;

uint32_t IndexOf(const Thread& thread, const Node* node) {
  return static_cast<uint32_t>(node - thread.nodes);
}

// Returns the size of a timeline's next chunk. It is no more than a share of what is left, so that
// many threads can use the memory up to the cap.
uint32_t ChunkSize(const profile::ControlHeader& header, const Timeline& timeline) {
  const uint64_t left = std::max(header.node_limit, header.node_count + 1) - header.node_count;
  const uint64_t share = std::max<uint64_t>(left / 16, kFirstChunk);
  return static_cast<uint32_t>(std::min({left, share, uint64_t{timeline.chunk_size}}));
}

// Makes all timelines fold recursion from now on if half of the cap is used.
void NoteHalfFull(profile::ControlHeader& header) {
  if (header.folded_ticks != 0 || header.node_count < header.node_limit / 2) return;
  uint64_t never = 0;
  __atomic_compare_exchange_n(&header.folded_ticks, &never, ptm::ReadTsc(), false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

// Returns 0 if no node is available.
uint32_t NewNode(Thread& thread, bool past_cap = false) {
  Timeline& timeline = thread.timeline;
  profile::Writer& writer = thread.session->writer();
  if (timeline.chunk_next < timeline.chunk_end) return timeline.chunk_next++;
  profile::ControlHeader& header = *writer.header();
  if (past_cap) return header.disk_full ? 0 : writer.AllocateNodes(1, true);
  if (header.tree_full || header.disk_full) return 0;
  const uint32_t count = ChunkSize(header, timeline);
  const uint32_t first = writer.AllocateNodes(count);
  if (first == 0) return 0;
  if (!thread.session->options().fold_recursion) NoteHalfFull(header);
  timeline.chunk_next = first + 1;
  timeline.chunk_end = first + count;
  timeline.chunk_size = std::min(timeline.chunk_size * 2, kLargestChunk);
  return first;
}

ChildBlock* BlockAt(Thread& thread, uint32_t index) {
  return reinterpret_cast<ChildBlock*>(thread.nodes + index);
}

// Returns the child for `key`, or null if there is none. A child found in a block is swapped with a
// slot of the node.
Node* Find(Thread& thread, Node* parent, uint32_t key) {
  for (const ChildSlot& slot : parent->child) {
    if (slot.key == key) return thread.nodes + slot.node;
  }
  for (uint32_t at = parent->more; at != 0; at = BlockAt(thread, at)->next) {
    for (ChildSlot& slot : BlockAt(thread, at)->child) {
      if (slot.key != key) continue;
      thread.victim = thread.victim == 2 ? 0 : thread.victim + 1;
      std::swap(slot, parent->child[thread.victim]);
      return thread.nodes + parent->child[thread.victim].node;
    }
  }
  return nullptr;
}

// Returns a slot for one more child, or null if there is no space. Slots fill first; then a slot's
// child moves to a block.
ChildSlot* Place(Thread& thread, Node* parent) {
  for (ChildSlot& slot : parent->child) {
    if (slot.key == 0) return &slot;
  }
  ChildBlock* block = parent->more != 0 ? BlockAt(thread, parent->more) : nullptr;
  if (block == nullptr || block->child[6].key != 0) {
    const uint32_t index = NewNode(thread);
    if (index == 0) return nullptr;
    block = BlockAt(thread, index);
    *block = ChildBlock{};
    block->next = parent->more;
    parent->more = index;
  }
  for (ChildSlot& slot : block->child) {
    if (slot.key != 0) continue;
    thread.victim = thread.victim == 2 ? 0 : thread.victim + 1;
    slot = parent->child[thread.victim];
    return &parent->child[thread.victim];
  }
  return nullptr;
}

// Returns the ancestor (or self) that runs `method`, or null if there is none. Used where recursion
// is folded.
Node* AncestorOf(Thread& thread, Node* node, profile::MethodId method) {
  for (;; node = thread.nodes + node->parent) {
    if (profile::MethodOf(node->ref) == method) return node;
    if (node->parent == 0) return nullptr;
  }
}

Node* Make(Thread& thread, uint32_t index, const Node* parent, MethodRef ref) {
  Node* node = thread.nodes + index;
  *node = Node{};
  node->parent = IndexOf(thread, parent);
  node->ref = ref;
  return node;
}

constexpr MethodRef kOverflowRef = profile::PackMethod(FrameKind::kOther, profile::kOverflowMethod);

// Returns the visible row for contexts that do not fit below `parent`. If that does not fit either,
// this is the timeline's own overflow node, below its root.
Node* Overflow(Thread& thread, Node* parent) {
  constexpr uint32_t kKey = IndexOf(profile::kOverflowMethod);
  if (Node* found = Find(thread, parent, kKey)) return found;
  ChildSlot* free = nullptr;  // an overflow child never takes a slot that needs a new block
  for (ChildSlot& slot : parent->child) {
    if (slot.key == 0) free = &slot;
  }
  if (parent->more != 0) {
    for (ChildSlot& slot : BlockAt(thread, parent->more)->child) {
      if (slot.key == 0 && free == nullptr) free = &slot;
    }
  }
  const uint32_t index = free != nullptr ? NewNode(thread, true) : 0;
  if (index != 0) {
    Node* node = Make(thread, index, parent, kOverflowRef);
    *free = {kKey, index};
    return node;
  }
  return LastOverflow(thread, kOverflowRef);
}

// Returns whether recursion is folded: from the start, or once half of the tree's memory is used.
bool FoldsRecursion(Session& session) {
  return session.options().fold_recursion || session.writer().header()->folded_ticks != 0;
}

// Returns the ancestor that represents a child with this method, or null if there is none or if
// recursion is not folded.
Node* FoldedChild(Thread& thread, Node* parent, MethodRef ref) {
  // Other methods share these.
  const bool is_shared =
      profile::TypeOf(ref) == FrameKind::kSite || profile::TypeOf(ref) == FrameKind::kLabel;
  if (is_shared || !FoldsRecursion(*thread.session)) return nullptr;
  return AncestorOf(thread, parent, profile::MethodOf(ref));
}

// Returns the child of `parent` for `key`, and creates it if necessary. Its node is null if there
// is no space.
Child Descend(Thread& thread, Node* parent, MethodRef ref, uint32_t key) {
  if (Node* found = Find(thread, parent, key)) return {found, false};
  if (Node* ancestor = FoldedChild(thread, parent, ref)) {
    if (ChildSlot* slot = Place(thread, parent)) *slot = {key, IndexOf(thread, ancestor)};
    return {ancestor, true};
  }
  // Allocates the node first: its index must be above its parent's, and a slot must never refer to
  // a missing node.
  const uint32_t index = NewNode(thread);
  ChildSlot* slot = index != 0 ? Place(thread, parent) : nullptr;
  if (slot == nullptr) return {nullptr, true};
  Node* node = Make(thread, index, parent, ref);
  *slot = {key, index};
  return {node, true};
}

// Moves the metrics beyond the first of a node to another one.
void MoveExtra(Thread& thread, uint32_t from, uint32_t to) {
  const uint32_t extras = thread.session->writer().metric_count() - 1;
  int64_t* const values = thread.extra + size_t{from} * extras;
  std::copy_n(values, extras, thread.extra + size_t{to} * extras);
  std::fill_n(values, extras, 0);
}

// Moves the counts of a node to a superseded record, if there is space.
void Supersede(Thread& thread, Node* node) {
  const uint32_t index = NewNode(thread, true);
  if (index == 0) return;
  Node* const superseded = thread.nodes + index;
  *superseded = *node;
  superseded->parent = IndexOf(thread, node);
  superseded->more = profile::kSuperseded;
  for (ChildSlot& slot : superseded->child) slot = {};
  node->entries[0] = node->entries[1] = node->exits[0] = node->exits[1] = 0;
  node->self = 0;
  node->dispatches = 0;
  MoveExtra(thread, IndexOf(thread, node), index);
}

}  // namespace

Child FindOrAddChild(Thread& thread, Node* parent, MethodRef ref, uint32_t key) {
  if (profile::MethodOf(parent->ref) == profile::kOverflowMethod) {
    ++thread.timeline.record->overflow;
    return {parent, false};
  }
  const Child child = Descend(thread, parent, ref, key);
  if (child.node != nullptr) return child;
  ++thread.timeline.record->overflow;
  return {Overflow(thread, parent), true};
}

Node* FindOrAddSite(Thread& thread, Node* parent, MethodRef site) {
  if (profile::MethodOf(parent->ref) == profile::kOverflowMethod) return parent;
  Node* const node = Descend(thread, parent, site, std::to_underlying(site)).node;
  return node != nullptr ? node : parent;
}

Node* AddUnplacedChild(Thread& thread, Node* parent, MethodRef ref) {
  if (Node* ancestor = FoldedChild(thread, parent, ref)) return ancestor;
  const uint32_t index = NewNode(thread);
  return index != 0 ? Make(thread, index, parent, ref) : nullptr;
}

Node* LastOverflow(Thread& thread, MethodRef ref) {
  Node* last = thread.nodes + thread.timeline.overflow;
  last->ref = ref;
  return last;
}

Node* AddOverflowChild(Thread& thread, const Node* parent, MethodRef ref) {
  const uint32_t index = NewNode(thread, true);
  return index != 0 ? Make(thread, index, parent, ref) : LastOverflow(thread, ref);
}

Node* AddRow(Thread& thread, uint32_t root, MethodRef ref) {
  const uint32_t index = thread.session->writer().AllocateNodes(1, true);
  return index != 0 ? Make(thread, index, thread.nodes + root, ref) : nullptr;
}

Node* AddRecords(Thread& thread, uint32_t count) {
  const uint32_t first =
      count == 1 ? NewNode(thread) : thread.session->writer().AllocateNodes(count);
  return first != 0 ? thread.nodes + first : nullptr;
}

void FoldIfDue(Thread& thread) {
  Timeline& timeline = thread.timeline;
  const profile::ControlHeader& header = *thread.session->writer().header();
  if (header.folded_ticks == 0 || timeline.folded || header.tree_full || header.disk_full) return;
  timeline.folded = true;
  Node* node = thread.nodes + timeline.record->root;
  for (ChildSlot& slot : node->child) slot = {};
  node->more = 0;
  if (timeline.frames == nullptr) return;  // a row of samples, without a stack
  for (Frame* frame = timeline.frames + 1; frame < thread.cursor.top; ++frame) {
    const MethodRef ref = frame->node->ref;
    node = Descend(thread, node, ref, IndexOf(profile::MethodOf(ref))).node;
    if (node == nullptr) return;
    frame->node = node;
  }
}

void Retype(Thread& thread, Node* node, MethodRef ref, bool always) {
  if (always || node->entries[0] + node->entries[1] >= kWorthSuperseding) Supersede(thread, node);
  node->ref = ref;
}

bool MoveIfLarge(Thread& thread, Node* node, uint32_t count) {
  if (static_cast<int32_t>(count) >= 0) return false;
  Retype(thread, node, node->ref, true);
  return true;
}

void IncrementOrDrop(Thread& thread, uint32_t& count) {
  if (count == std::numeric_limits<uint32_t>::max()) {
    ++thread.timeline.record->dropped;
  } else {
    ++count;
  }
}

uint32_t MakeRoot(profile::Writer& writer, Timeline& timeline) {
  const uint32_t count = writer.header()->tree_full ? 2 : kFirstChunk;
  const uint32_t first = writer.AllocateNodes(count, true);
  if (first == 0) return 0;
  Node* nodes = writer.nodes();
  nodes[first].ref = profile::PackMethod(FrameKind::kThread, profile::kRootMethod);
  nodes[first + 1].parent = first;  // no method reference: unused until needed
  timeline.overflow = first + 1;
  timeline.chunk_next = first + 2;
  timeline.chunk_end = first + count;
  timeline.chunk_size = kFirstChunk * 2;
  return first;
}

}  // namespace jprof::engine
