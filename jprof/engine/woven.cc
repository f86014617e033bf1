#include "jprof/engine/woven.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "jprof/engine/samples.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {
namespace {

using profile::ChildBlock;
using profile::ChildSlot;
using profile::Node;

// Slots and tables contain a child's address or index; see woven.h.
uint64_t* OwnSlot(Node* parent, uint32_t key) {
  const uint32_t slot = key % 4;
  return slot == 0 ? reinterpret_cast<uint64_t*>(&parent->exits[0])
                   : reinterpret_cast<uint64_t*>(&parent->child[slot - 1]);
}

uint32_t IndexOf(const Thread& thread, const Node* node) {
  return static_cast<uint32_t>(node - thread.nodes);
}
using profile::IndexOf;
uint64_t AddressOf(const Node* node) { return reinterpret_cast<uint64_t>(node); }

ChildBlock* TableOf(const Thread& thread, const Node* parent) {
  return reinterpret_cast<ChildBlock*>(thread.nodes + parent->more);
}
uint32_t ChildrenIn(const ChildBlock& table) { return IndexOf(profile::MethodOf(table.word)); }

constexpr uint32_t kHash = 0x9e3779b1;
constexpr uint32_t kSlots = std::size(ChildBlock{}.child);

// The slot for `key` in the table: its own, or an empty one.
ChildSlot* SlotIn(ChildBlock* table, uint32_t key) {
  const uint32_t last = table->next;
  for (uint32_t record = key * kHash >> 16 & last;; record = (record + 1) & last) {
    for (ChildSlot& slot : table[record].child) {
      if (slot.key == key || slot.key == 0) return &slot;
    }
  }
}

void PutIn(ChildBlock* table, ChildSlot child) {
  *SlotIn(table, child.key) = child;
  ++table->word;
}

// A table with these children and space for more; null: no space.
ChildBlock* MakeTable(Thread& thread, uint32_t records) {
  auto* const table = reinterpret_cast<ChildBlock*>(AddRecords(thread, records));
  if (table == nullptr) return nullptr;
  for (uint32_t i = 0; i < records; ++i) table[i] = ChildBlock{};
  table->next = records - 1;
  return table;
}

// The parent's table, with space for one more child; null: no space.
ChildBlock* TableForOneMore(Thread& thread, Node* parent) {
  ChildBlock* const old = parent->more != 0 ? TableOf(thread, parent) : nullptr;
  const uint32_t records = old != nullptr ? old->next + 1 : 0;
  if (old != nullptr && 2 * ChildrenIn(*old) < kSlots * records) return old;
  ChildBlock* const table = MakeTable(thread, std::max(records * 2, 1u));
  if (table == nullptr) return nullptr;
  for (uint32_t i = 0; i < records; ++i) {
    for (const ChildSlot& child : old[i].child) {
      if (child.key != 0) PutIn(table, child);
    }
  }
  if (old == nullptr) {
    for (uint32_t key = 0; key < 4; ++key) {
      const auto* child = reinterpret_cast<const Node*>(*OwnSlot(parent, key));
      if (child != thread.nodes)
        PutIn(table, {IndexOf(profile::MethodOf(child->word)), IndexOf(thread, child)});
    }
  }
  parent->more = static_cast<uint32_t>(reinterpret_cast<Node*>(table) - thread.nodes);
  return table;
}

// Puts a child among those of its parent. False: no space.
bool Place(Thread& thread, Node* parent, uint32_t key, Node* child) {
  uint64_t* const own = OwnSlot(parent, key);
  if (parent->more == 0 && *own == AddressOf(thread.nodes)) {
    *own = AddressOf(child);
    return true;
  }
  ChildBlock* const table = TableForOneMore(thread, parent);
  if (table == nullptr) return false;
  PutIn(table, {key, IndexOf(thread, child)});
  return true;
}

void ClearSlots(Node* node, const Node* none) {
  for (uint32_t key = 0; key < 4; ++key) *OwnSlot(node, key) = AddressOf(none);
}
void ClearSlots(const Thread& thread, Node* node) { ClearSlots(node, thread.nodes); }

Node* FindChild(const Thread& thread, Node* parent, uint32_t key) {
  auto* const own = reinterpret_cast<Node*>(*OwnSlot(parent, key));
  if (IndexOf(profile::MethodOf(own->word)) == key) return own;
  if (parent->more == 0) return nullptr;
  const ChildSlot* slot = SlotIn(TableOf(thread, parent), key);
  return slot->key != 0 ? thread.nodes + slot->node : nullptr;
}

Node* RootOf(const Thread& thread) { return thread.nodes + thread.timeline.record->root; }

}  // namespace

Node FormerWovenNode() {
  static constinit const Node none{};
  Node node;
  ClearSlots(&node, &none);
  return node;
}

void PrepareWovenNodes(Node* nodes) { ClearSlots(nodes, nodes); }

Thread* WovenThread(Session& session) {
  Thread* thread = current_thread;
  if (thread == nullptr) thread = session.Attach();
  if (thread == nullptr) {
    session.LostEvent();
    return nullptr;
  }
  return session.HandleAttention(*thread) ? thread : nullptr;
}

Node* WovenRoot(Thread& thread) {
  Node* const root = RootOf(thread);
  if (*OwnSlot(root, 0) == 0) ClearSlots(thread, root);
  return root;
}

Node* WovenChild(Thread& thread, Node* parent, profile::MethodId method) {
  const TreeInUse tree(thread);
  if (profile::MethodOf(parent->word) == profile::kOverflowMethod) {
    ++thread.timeline.record->overflow;
    return parent;
  }
  if (Node* found = FindChild(thread, parent, IndexOf(method))) return found;
  Node* const child =
      AddUnplacedChild(thread, parent, profile::PackMethod(MethodType::kWoven, method));
  if (child != nullptr) {
    if (child->parent == IndexOf(thread, parent)) ClearSlots(thread, child);
    if (Place(thread, parent, IndexOf(method), child)) return child;
  }
  ++thread.timeline.record->overflow;
  return WovenOverflow(thread, parent);
}

Node* WovenOverflow(Thread& thread, Node* parent) {
  if (profile::MethodOf(parent->word) == profile::kOverflowMethod) return parent;
  constexpr uint32_t kKey = IndexOf(profile::kOverflowMethod);
  if (Node* found = FindChild(thread, parent, kKey)) return found;
  Node* const child = AddOverflowChild(
      thread, parent, profile::PackMethod(MethodType::kWoven, profile::kOverflowMethod));
  ClearSlots(thread, child);
  Place(thread, parent, kKey, child);
  return child;
}

Node* WovenSwitch(Thread& thread, uint64_t identity, Node* current) {
  if (identity == thread.continuation) return current;
  Frame* const bottom = thread.timeline.frames;
  thread.cursor.top = bottom + 1;
  if (current != RootOf(thread)) *thread.cursor.top++ = {0, 0, current};
  thread.session->SwitchToVirtualThread(thread, identity);
  Node* const after = thread.cursor.top[-1].node;
  return after == RootOf(thread) ? WovenRoot(thread) : after;
}

}  // namespace jprof::engine
