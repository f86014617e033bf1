// Counts the allocated objects of one thread by calling context and class. A class is a node of the
// call tree, below that of the running method: its first metric is bytes, its second is objects.
//
// Only the thread itself changes its state, in the handlers of the allocation probe
// (allocation_handlers.cc) and in the agent's events of threads. Other threads may read `seen` and
// write the value of the node `unseen`.
#pragma once

#include <cstdint>

#include "jprof/engine/session.h"
#include "jprof/hotspot/objects/object_layout.h"

namespace jprof::hotspot {

// One context and class, with its node. Zeros are one that matches no object.
struct AllocationSite {
  uint64_t klass = 0, name = 0;
  uint64_t place = 0;  // what identifies the context: CurrentPlace
  int64_t* bytes = nullptr;
  int64_t* objects = nullptr;
  ObjectSize size;
  uint32_t node = 0;  // index of the node
  uint64_t mark = 0;  // with marks, the bits of the node's index in an object (ObjectMarks), or 0
};

// States the id of a class in the profile, and how large its objects are.
struct KnownClass {
  uint64_t klass = 0, name = 0;
  profile::MethodId id{};
  ObjectSize size;
};

class ObjectCounts final : public engine::ThreadExtension {
 public:
  // Returns the counts of a recorded thread, or null if it has none.
  static ObjectCounts* Of(const engine::Thread& thread) {
    return static_cast<ObjectCounts*>(thread.extension.load(std::memory_order_relaxed));
  }
  // Makes the counts of the calling thread, with the row "not seen by the probe". Returns null if
  // there is no memory.
  static ObjectCounts* Make(engine::Thread& thread, bool woven);

  // Returns the place in which a context and class are remembered. Others may share it.
  [[gnu::always_inline]] AllocationSite& SiteFor(uint64_t place, uint64_t klass) {
    return known_.sites[((place ^ (klass << 20)) * kHash) >> (64 - kSiteBits)];
  }
  // Remembers the node of a class below a context, which is created if necessary. Without space it
  // is the node for such contexts.
  AllocationSite& AddSite(engine::Thread& thread, ObjectLayout& layout, uint64_t place,
                          profile::Node* context, uint64_t klass);

  // Sets the value of the row "not seen by the probe": what the VM counts less what was seen, and
  // less what it had counted before the thread was recorded.
  void SetUnseen(uint64_t allocated_by_vm) {
    if (unseen != nullptr) unseen->self = static_cast<int64_t>(allocated_by_vm - before - seen);
  }

  void Release() override;

  uint64_t seen = 0;    // bytes of all objects
  uint64_t before = 0;  // bytes that the VM had counted before
  // With live objects, the site and the bytes of the thread's last object.
  const AllocationSite* last = nullptr;
  uint64_t last_bytes = 0;
  uint64_t random;
  profile::Node* unseen = nullptr;  // null if there was no space for it

 private:
  static constexpr int kSiteBits = 10, kClassBits = 9;
  static constexpr uint64_t kHash = 0x9e3779b97f4a7c15ull;

  struct Known {
    AllocationSite sites[1 << kSiteBits];
    KnownClass classes[1 << kClassBits];
  };

  ObjectCounts(bool woven, uint64_t seed);
  const KnownClass& ClassOf(engine::Session& session, ObjectLayout& layout, uint64_t klass);
  profile::Node* ChildOf(engine::Thread& thread, profile::Node* parent, FrameKind kind,
                         profile::MethodId id) const;

  const bool woven_;  // whether methods count themselves
  Known known_;
};

}  // namespace jprof::hotspot
