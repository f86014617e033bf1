#include "jprof/engine/woven.h"

#include <iterator>
#include <utility>

#include "jprof/engine/samples.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {
namespace {

using profile::ChildSlot;
using profile::Node;

// Woven code looks for a child in one slot of its parent first.
void MoveToOwnSlot(Node* parent, profile::MethodId method) {
  const uint32_t key = IndexOf(method);
  ChildSlot& own = parent->child[key % std::size(parent->child)];
  if (own.key != 0) return;
  for (ChildSlot& slot : parent->child) {
    if (slot.key == key) return std::swap(slot, own);
  }
}

Node* RootOf(const Thread& thread) { return thread.nodes + thread.timeline.record->root; }

}  // namespace

Thread* WovenThread(Session& session) {
  Thread* thread = current_thread;
  if (thread == nullptr) thread = session.Attach();
  if (thread == nullptr) {
    session.LostEvent();
    return nullptr;
  }
  return session.HandleAttention(*thread) ? thread : nullptr;
}

Node* WovenChild(Thread& thread, Node* parent, profile::MethodId method) {
  const TreeInUse tree(thread);
  const uint32_t word = profile::PackMethod(MethodType::kWoven, method);
  const auto [node, created] = FindOrAddChild(thread, parent, word);
  if (created) MoveToOwnSlot(parent, method);
  return node;
}

Node* WovenOverflow(Thread& thread, Node* parent) {
  if (profile::MethodOf(parent->word) == profile::kOverflowMethod) return parent;
  for (const ChildSlot& slot : parent->child) {
    if (slot.key == IndexOf(profile::kOverflowMethod)) return thread.nodes + slot.node;
  }
  return thread.nodes + thread.timeline.overflow;
}

Node* WovenSwitch(Thread& thread, uint64_t identity, Node* current) {
  if (identity == thread.continuation) return current;
  Frame* const bottom = thread.timeline.frames;
  thread.cursor.top = bottom + 1;
  if (current != RootOf(thread)) *thread.cursor.top++ = {0, 0, current};
  thread.session->SwitchToVirtualThread(thread, identity);
  return thread.cursor.top[-1].node;
}

}  // namespace jprof::engine
