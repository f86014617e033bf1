#include "jprof/engine/woven.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "jprof/engine/samples.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {
namespace {

using profile::ChildBlock;
using profile::ChildSlot;
using profile::MethodId;
using profile::Node;

constexpr uint64_t kPage = profile::MappedFile::kPage;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kPlaces = 256 * kGiB;  // so that place / 64 has 32 bits
constexpr int kTableShift = 28;           // in Node::more
constexpr uint32_t kTableIndex = (1u << kTableShift) - 1;
constexpr uint32_t kLargestTable = 1u << 15;  // records
constexpr uint32_t kSlots = 8;

uint32_t* SlotOf(Node* parent, uint32_t key) {
  const uint32_t slot = key % kSlots;
  constexpr uint32_t kExits = offsetof(Node, exits) / 4, kChild = offsetof(Node, child) / 4;
  return reinterpret_cast<uint32_t*>(parent) + (slot < 2 ? kExits + slot : kChild - 2 + slot);
}

uint32_t IndexOf(const Thread& thread, const Node* node) {
  return static_cast<uint32_t>(node - thread.nodes);
}
using profile::IndexOf;

uint32_t KeyOf(const Node* node) { return IndexOf(profile::MethodOf(node->ref)); }
Node* NodeOf(const Thread& thread, uint32_t child) {
  return WovenNode(thread.nodes, uint64_t{child} * sizeof(Node));
}

constexpr uint32_t kHash = 0x9e3779b1;
constexpr uint32_t kSlotsInRecord = std::size(ChildBlock{}.child);

// Contains all children of a node that has more than its own slots can hold.
struct Table {
  ChildBlock* records = nullptr;  // null if there is none
  uint32_t count = 0;             // a power of two

  bool HasSpaceFor(uint32_t children) const { return 2 * children <= kSlotsInRecord * count; }
  uint32_t Children() const { return IndexOf(profile::MethodOf(records->ref)); }

  // Finds the slot of a key, or an empty one. All slots of the records are a row that wraps around.
  ChildSlot* SlotFor(uint32_t key) const {
    const uint32_t hash = key * kHash, record = hash >> 16 & (count - 1);
    uint32_t at = record * kSlotsInRecord + ((hash >> 24) * kSlotsInRecord >> 8);
    for (;; at = (at + 1) % (count * kSlotsInRecord)) {
      ChildSlot& slot = records[at / kSlotsInRecord].child[at % kSlotsInRecord];
      if (slot.key == key || slot.key == 0) return &slot;
    }
  }
  void Put(ChildSlot child) const {
    *SlotFor(child.key) = child;
    records->ref = PackMethod(FrameKind::kBlock, profile::MethodId{Children() + 1});
  }
};

Table TableOf(const Thread& thread, const Node* parent) {
  if (parent->more == 0) return {};
  return {reinterpret_cast<ChildBlock*>(thread.nodes + (parent->more & kTableIndex)),
          1u << (parent->more >> kTableShift)};
}

uint32_t OwnChildren(Node* parent) {
  uint32_t children = 0;
  for (uint32_t key = 0; key < kSlots; ++key) children += *SlotOf(parent, key) != 0;
  return children;
}

// Returns a table with space for one more child of the parent, or one without records if there is
// no space.
Table TableForOneMore(Thread& thread, Node* parent) {
  const Table old = TableOf(thread, parent);
  const uint32_t children = (old.records != nullptr ? old.Children() : OwnChildren(parent)) + 1;
  if (old.HasSpaceFor(children)) return old;
  uint32_t count = std::max(old.count, 1u);
  while (!Table{nullptr, count}.HasSpaceFor(children)) count *= 2;
  if (count > kLargestTable) return {};
  const Table table = {reinterpret_cast<ChildBlock*>(AddRecords(thread, count)), count};
  if (table.records == nullptr) return {};
  std::fill_n(table.records, count, ChildBlock{});
  for (const ChildBlock& record : std::span(old.records, old.count)) {
    for (const ChildSlot& child : record.child) {
      if (child.key != 0) table.Put(child);
    }
  }
  if (old.records == nullptr) {
    for (uint32_t key = 0; key < kSlots; ++key) {
      const uint32_t child = *SlotOf(parent, key);
      if (child != 0) table.Put({KeyOf(NodeOf(thread, child)), child});
    }
  }
  parent->more = IndexOf(thread, reinterpret_cast<Node*>(table.records)) |
                 static_cast<uint32_t>(std::countr_zero(count)) << kTableShift;
  return table;
}

bool HasPlaceFor(Thread& thread, Node* parent, uint32_t key) {
  return (parent->more == 0 && *SlotOf(parent, key) == 0) ||
         TableForOneMore(thread, parent).records != nullptr;
}

// Puts a child among those of its parent. Returns false if there is no space.
bool Place(Thread& thread, Node* parent, uint32_t key, Node* child) {
  uint32_t* const own = SlotOf(parent, key);
  if (parent->more == 0 && *own == 0) {
    *own = ChildOf(child);
    return true;
  }
  const Table table = TableForOneMore(thread, parent);
  if (table.records == nullptr) return false;
  table.Put({key, ChildOf(child)});
  return true;
}

Node* FindChild(const Thread& thread, Node* parent, uint32_t key) {
  if (Node* own = NodeOf(thread, *SlotOf(parent, key)); own != nullptr && KeyOf(own) == key)
    return own;
  const Table table = TableOf(thread, parent);
  if (table.records == nullptr) return nullptr;
  const ChildSlot& slot = *table.SlotFor(key);
  return slot.key != 0 ? NodeOf(thread, slot.node) : nullptr;
}

constexpr int kLevelsAbove = 15;  // C2 inlines no more methods into each other, unless it must

// Calls `visit` for each child of a node.
void VisitChildren(const Thread& thread, Node* parent, auto visit) {
  const Table table = TableOf(thread, parent);
  for (const ChildBlock& record : std::span(table.records, table.count)) {
    for (const ChildSlot& child : record.child) {
      if (child.key != 0) visit(NodeOf(thread, child.node));
    }
  }
  for (uint32_t key = 0; table.records == nullptr && key < kSlots; ++key) {
    if (Node* child = NodeOf(thread, *SlotOf(parent, key)); child != nullptr) visit(child);
  }
}

uint64_t CallsOf(const Node* node) { return node->entries[0] | uint64_t{node->entries[1]} << 32; }

// Returns the child for a method, or its node with the most calls at a site of the parent, or null
// if there is none.
Node* FindCallee(const Thread& thread, Node* parent, uint32_t method) {
  Node* found = FindChild(thread, parent, method);
  if (found != nullptr || !thread.session->options().call_sites) return found;
  VisitChildren(thread, parent, [&](Node* site) {
    Node* const callee = IsSite(site) ? FindChild(thread, site, method) : nullptr;
    if (callee != nullptr && (found == nullptr || CallsOf(callee) > CallsOf(found))) found = callee;
  });
  return found;
}

// Descends from a node to the innermost method that has one.
Node* Descend(const Thread& thread, Node* node, std::span<const MethodId> innermost_first) {
  for (const MethodId method : innermost_first | std::views::reverse) {
    if (Node* child = FindCallee(thread, node, IndexOf(method))) node = child;
  }
  return node;
}

// Returns the address of a page of zeros, from which the place of any node in `within` is below
// kPlaces.
Result<uint64_t> MakeOrigin(profile::AddressRange& within) {
#ifdef MAP_32BIT
  // The address is below 2^31, so that it is a part of instructions. Recordings are above what the
  // VM chooses.
  within = {64 * kGiB, kPlaces};
  if (void* region = profile::ReserveAddresses(kWovenRegion, within); region != nullptr) {
    munmap(region, kWovenRegion);
    void* const page =
        mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (page != MAP_FAILED) return reinterpret_cast<uint64_t>(page);
  }
#endif
  void* const space =
      mmap(nullptr, kPlaces, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED)
    return Fail(
        "cannot reserve addresses for woven counting: a limit of the process (ulimit -v), or they "
        "are in use; use the probes (--counter probe, COUNTER=probe)");
  const auto origin = reinterpret_cast<uint64_t>(space);
  within = {origin + kPage, origin + kPlaces};
  munmap(static_cast<char*>(space) + kPage, kPlaces - kPage);
  return origin;
}

}  // namespace

uint64_t woven_origin = 0;

Result<profile::AddressRange> PrepareWoven() {
  static profile::AddressRange within;
  if (woven_origin == 0) {
    const auto origin = MakeOrigin(within);
    if (!origin) return std::unexpected(origin.error());
    woven_origin = *origin;
  }
  return within;
}

Thread* WovenThread(Session& session) {
  Thread* const thread = session.threads().CurrentThreadUntilExit();
  if (thread == nullptr) {
    session.LostEvent();
    return nullptr;
  }
  return HandleAttention(*thread) ? thread : nullptr;
}

Node* WovenChild(Thread& thread, Node* parent, profile::MethodId method, FrameKind kind) {
  const TreeClaim tree(thread);
  if (profile::MethodOf(parent->ref) == profile::kOverflowMethod) {
    ++thread.timeline.record->overflow;
    return parent;
  }
  if (Node* found = FindChild(thread, parent, IndexOf(method))) return found;
  Node* const child = AddUnplacedChild(thread, parent, profile::PackMethod(kind, method));
  if (child != nullptr && Place(thread, parent, IndexOf(method), child)) return child;
  ++thread.timeline.record->overflow;
  return WovenOverflow(thread, parent);
}

// A method that was entered while the recording began or ended has no node: it gives another one.
Node* WovenSite(Thread& thread, Node* parent, MethodId site) {
  const TreeClaim tree(thread);
  if (profile::TypeOf(parent->ref) != FrameKind::kWoven ||
      profile::MethodOf(parent->ref) == profile::kOverflowMethod)
    return parent;
  if (Node* found = FindChild(thread, parent, IndexOf(site))) return found;
  if (!HasPlaceFor(thread, parent, IndexOf(site))) return parent;
  Node* const child = AddUnplacedChild(thread, parent, profile::PackMethod(FrameKind::kSite, site));
  if (child == nullptr) return parent;
  Place(thread, parent, IndexOf(site), child);
  return child;
}

// Returns the overflow row of a parent. Adds no node without a place among the children, because it
// would not be found again.
Node* WovenOverflow(Thread& thread, Node* parent) {
  const TreeClaim tree(thread);
  if (profile::MethodOf(parent->ref) == profile::kOverflowMethod) return parent;
  constexpr uint32_t kKey = IndexOf(profile::kOverflowMethod);
  constexpr profile::MethodRef kRef =
      profile::PackMethod(FrameKind::kWoven, profile::kOverflowMethod);
  if (Node* found = FindChild(thread, parent, kKey)) return found;
  if (!HasPlaceFor(thread, parent, kKey)) return LastOverflow(thread, kRef);
  Node* const child = AddOverflowChild(thread, parent, kRef);
  Place(thread, parent, kKey, child);
  return child;
}

// Finds the node of the innermost method. Either the current node is one of these methods, or the
// outermost of them has just been entered or is about to return, or the current node has been
// inlined into one of them.
Node* WovenLeaf(const Thread& thread, Node* current, std::span<const MethodId> innermost_first) {
  if (profile::MethodOf(current->ref) == profile::kOverflowMethod) return current;
  const auto inner_of = [&](const Node* node) {
    const Node* const runs = IsLabel(node) ? thread.nodes + node->parent : node;
    const auto found = std::ranges::find(innermost_first, profile::MethodOf(runs->ref));
    return found != innermost_first.end()
               ? std::optional(innermost_first.first(found - innermost_first.begin()))
               : std::nullopt;
  };
  if (const auto inner = inner_of(current)) return Descend(thread, current, *inner);
  if (Node* entered = Descend(thread, current, innermost_first); entered != current) return entered;
  Node* node = current;
  for (int level = 0; level < kLevelsAbove && node->parent != 0; ++level) {
    node = thread.nodes + node->parent;
    if (IsSite(node)) node = thread.nodes + node->parent;
    if (const auto inner = inner_of(node)) return Descend(thread, node, *inner);
  }
  return current;
}

Node* WovenSwitch(Thread& thread, uint64_t identity, Node* current) {
  if (identity == thread.continuation) return current;
  Frame* const bottom = thread.timeline.frames;
  thread.cursor.top = bottom + 1;
  if (current != WovenRoot(thread)) *thread.cursor.top++ = {0, 0, current};
  thread.session->timelines().SwitchToVirtualThread(thread, identity);
  if (thread.continuation == identity) return thread.cursor.top[-1].node;
  thread.session->LostEvent();
  return nullptr;
}

}  // namespace jprof::engine
