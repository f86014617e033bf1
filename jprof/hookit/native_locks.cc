#include "jprof/hookit/native_locks.h"

#include <array>
#include <new>
#include <ranges>
#include <span>

#include "common/mapped_memory.h"
#include "common/monotonic.h"
#include "jprof/engine/function_events.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/tree.h"
#include "jprof/hookit/function_source.h"

namespace jprof::hookit {

struct HeldLock {
  const void* lock;
  LockKind kind;
  bool again;     // the thread had it already
  bool tried;     // the thread has not waited for it, and would not have
  uint32_t node;  // where it was taken
  int64_t since;  // in ns; 0: not held, because the thread waits for a condition, or not timed
};

// The locks that a thread holds, in the order in which it took them.
class HeldLocks final : public engine::ThreadExtension {
 public:
  // Returns those of a thread, or null if there is no memory.
  static HeldLocks* Of(engine::Thread& thread) {
    if (engine::ThreadExtension* const known = thread.extension) {
      return static_cast<HeldLocks*>(known);
    }
    void* const memory = MapBytes(sizeof(HeldLocks));
    auto* const made = memory != nullptr ? new (memory) HeldLocks : nullptr;
    thread.extension = made;
    return made;
  }
  void Release() override { UnmapArray(this, 1); }

  std::span<HeldLock> all() { return {held_, depth_}; }
  std::span<const HeldLock> all() const { return {held_, depth_}; }

  // Locks beyond the capacity are released without having been held.
  void Push(const HeldLock& lock) {
    if (depth_ < kMost) held_[depth_++] = lock;
  }
  // Returns the innermost of this lock, or null.
  HeldLock* Last(const void* lock) {
    for (size_t i = depth_; i > 0; --i)
      if (held_[i - 1].lock == lock) return &held_[i - 1];
    return nullptr;
  }
  HeldLock* First(const void* lock) {
    for (HeldLock& one : all())
      if (one.lock == lock) return &one;
    return nullptr;
  }
  void Remove(HeldLock* lock) {
    for (HeldLock* const last = held_ + --depth_; lock < last; ++lock) *lock = lock[1];
  }

  // Returns the place for an order with this hash among those that need not be added again.
  uint64_t& Known(uint64_t order) { return known_[order >> 58]; }

 private:
  static constexpr size_t kMost = 250;
  size_t depth_ = 0;
  HeldLock held_[kMost] = {};
  std::array<uint64_t, 64> known_ = {};
};

namespace {

constexpr size_t kSlow = 0, kHold = 1;  // after the first metric

uint64_t Mixed(const void* lock) {
  return (reinterpret_cast<uint64_t>(lock) >> 3) * 0x9e3779b97f4a7c15ull;
}
// Returns a number for the lock that is not 0.
uint32_t HashOf(const void* lock) { return static_cast<uint32_t>(Mixed(lock) >> 32) | 1; }

// Returns a hash of the pair in which the upper bits depend on all others.
uint64_t Hash(uint32_t first, uint32_t second) {
  uint64_t hash = (uint64_t{first} << 32 | second) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 32;
  return hash * 0xd1342543de82ef95ull;
}

}  // namespace

profile::Node* NativeLocks::Child(engine::Thread& thread, profile::Node* parent, uint64_t method) {
  const profile::MethodRef ref = session_.method_cache().Resolve(thread, method, 0)->ref;
  return engine::FindOrAddChild(thread, parent, ref).node;
}

// The address before the one to which a call returns is in the function that calls.
profile::Node* NativeLocks::LeafOf(engine::Thread& thread, const LockRequest& request) {
  engine::FoldIfDue(thread);
  profile::Node* node = thread.cursor.top[-1].node;
  if (thread.cursor.top == thread.timeline.frames + 1) {
    const uint64_t function = reinterpret_cast<uint64_t>(request.site) - 1;
    node = Child(thread, node, engine::FunctionEvent(function, 0).method);
  }
  return Child(thread, node, LockMethod(reinterpret_cast<uint64_t>(request.lock), request.kind));
}

void NativeLocks::Add(uint32_t node, size_t metric, int64_t amount) {
  const size_t row = session_.writer().metric_count() - 1;
  session_.writer().extra()[node * row + metric] += amount;
}

std::atomic<uint64_t>& NativeLocks::OwnerOf(const void* lock) { return owners_[Mixed(lock) >> 52]; }

void NativeLocks::SetOwner(const void* lock, uint32_t node) {
  OwnerOf(lock).store(uint64_t{HashOf(lock)} << 32 | node, std::memory_order_relaxed);
}

// Adds the orders of the locks down to the last one for which the thread asked in such a way that
// it may wait. That one has been added with those below it.
void NativeLocks::Order(HeldLocks& held, const LockRequest& request, const profile::Node* leaf) {
  if (!request.may_wait) return;
  for (const HeldLock& lock : held.all() | std::views::reverse) {
    if (lock.again) continue;
    AddOrder(held, {.kind = profile::LockEdgeKind::kOrder,
                    .from = lock.node,
                    .to = IndexOf(leaf),
                    .from_object = HashOf(lock.lock),
                    .to_object = HashOf(request.lock),
                    .count = 1});
    if (!lock.tried) return;
  }
}

void NativeLocks::AddOrder(HeldLocks& held, const profile::LockEdge& order) {
  const uint64_t nodes = Hash(order.from, order.to);
  const uint64_t objects = nodes ^ Hash(order.from_object, order.to_object);
  if (held.Known(nodes) == nodes || held.Known(objects) == objects) return;
  const uint64_t added = edges_.Add(order) ? nodes : objects;
  held.Known(added) = added;
}

void NativeLocks::AddWait(const LockRequest& request, profile::Node* leaf) {
  const int64_t time = MonotonicNanos() - request.waits_since;
  leaf->self += time;
  Add(IndexOf(leaf), kSlow, 1);
  edges_.Add({.kind = profile::LockEdgeKind::kWait,
              .from = IndexOf(leaf),
              .to = request.owner,
              .count = 1,
              .time_ns = time});
}

void NativeLocks::AddHold(const HeldLock& lock) {
  if (timed_ && lock.since != 0) Add(lock.node, kHold, MonotonicNanos() - lock.since);
}

void NativeLocks::Contended(engine::Thread& thread, LockRequest& request) {
  HeldLocks* const held = HeldLocks::Of(thread);
  if (held == nullptr) return;
  Order(*held, request, LeafOf(thread, request));
  const uint64_t owner = OwnerOf(request.lock).load(std::memory_order_relaxed);
  if (owner >> 32 == HashOf(request.lock)) request.owner = static_cast<uint32_t>(owner);
  request.waits_since = MonotonicNanos();
}

void NativeLocks::Take(HeldLocks& held, const LockRequest& request, profile::Node* leaf) {
  const bool again = held.Last(request.lock) != nullptr;
  const uint32_t node = IndexOf(leaf);
  if (!again) {
    Add(node, timed_ ? kHold + 1 : kHold, 1);
    Order(held, request, leaf);
    SetOwner(request.lock, node);
  }
  held.Push({.lock = request.lock,
             .kind = request.kind,
             .again = again,
             .tried = !request.may_wait,
             .node = node,
             .since = again || !timed_ ? 0 : MonotonicNanos()});
}

void NativeLocks::End(engine::Thread& thread, const LockRequest& request, bool taken) {
  HeldLocks* const held = HeldLocks::Of(thread);
  if (held == nullptr || (!taken && request.waits_since == 0)) return;
  profile::Node* const leaf = LeafOf(thread, request);
  if (request.waits_since != 0) AddWait(request, leaf);
  if (!taken) return;
  engine::MoveIfLarge(thread, leaf, leaf->entries[0]);
  engine::IncrementOrDrop(thread, leaf->entries[0]);
  Take(*held, request, leaf);
}

void NativeLocks::Release(engine::Thread& thread, const void* lock) {
  HeldLocks* const held = HeldLocks::Of(thread);
  HeldLock* const last = held != nullptr ? held->Last(lock) : nullptr;
  if (last == nullptr) return;
  AddHold(*last);
  held->Remove(last);
}

void NativeLocks::Pause(engine::Thread& thread, const void* lock) {
  HeldLocks* const held = HeldLocks::Of(thread);
  HeldLock* const first = held != nullptr ? held->First(lock) : nullptr;
  if (first == nullptr) return;
  AddHold(*first);
  first->since = 0;
}

void NativeLocks::Resume(engine::Thread& thread, const void* lock) {
  HeldLocks* const held = HeldLocks::Of(thread);
  HeldLock* const first = held != nullptr ? held->First(lock) : nullptr;
  if (first == nullptr) return;
  SetOwner(lock, first->node);
  if (timed_) first->since = MonotonicNanos();
}

namespace {

std::atomic<NativeLocks*> counting = nullptr;

// Returns the state of the calling thread, or null if it is not recorded.
engine::Thread* ThreadIn(engine::Session& session) {
  engine::Thread* thread = engine::current_thread;
  if (thread == nullptr) thread = session.threads().CurrentThread();
  if (thread == nullptr) {
    session.LostEvent();
    return nullptr;
  }
  const bool asked = (engine::AttentionOf(*thread) & ~engine::kRareWork) != 0;
  return asked && !engine::HandleAttention(*thread) ? nullptr : thread;
}

// Calls f(NativeLocks&, Thread&) if locks of this thread are counted.
template <class F>
void Count(F f) {
  const engine::RareWork work;
  NativeLocks* const locks = work.acquired() ? counting.load(std::memory_order_acquire) : nullptr;
  engine::Thread* const thread = locks != nullptr ? ThreadIn(locks->session()) : nullptr;
  if (thread != nullptr) f(*locks, *thread);
}

constexpr LockCalls kCalls = {
    .contended =
        [](LockRequest& request) {
          Count([&](NativeLocks& locks, engine::Thread& on) { locks.Contended(on, request); });
        },
    .ends =
        [](const LockRequest& request, bool taken) {
          Count([&](NativeLocks& locks, engine::Thread& on) { locks.End(on, request, taken); });
        },
    .releases =
        [](const void* lock) {
          Count([&](NativeLocks& locks, engine::Thread& on) { locks.Release(on, lock); });
        },
    .pauses =
        [](const void* lock) {
          Count([&](NativeLocks& locks, engine::Thread& on) { locks.Pause(on, lock); });
        },
    .resumes =
        [](const void* lock) {
          Count([&](NativeLocks& locks, engine::Thread& on) { locks.Resume(on, lock); });
        },
};

}  // namespace

void CountLocks(NativeLocks* locks) {
  counting = locks;
  __atomic_store_n(&jprof_lock_calls, locks != nullptr ? &kCalls : nullptr, __ATOMIC_RELEASE);
}

}  // namespace jprof::hookit

const jprof::hookit::LockCalls* jprof_lock_calls = nullptr;
