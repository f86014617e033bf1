// Gives callbacks of the VM and signal handlers access to the parts of the agent, because they have
// no argument for them. The agent may be detached at any time, except while a part is in use: an
// InUse can be made on any thread and in signal handlers, and never waits. Uses may be nested.
//
// A part is published when it opens or begins. It can be hidden alone; UnpublishAll hides all
// parts.
#pragma once

#include <atomic>

namespace jprof::agent {

// Holds the part of one type for InUse.
class PartSlot {
 public:
  void* part() const { return part_.load(); }
  // Is not thread-safe: no other thread may publish, or call UnpublishAll, at the same time.
  // Requires that the part exists until it has been hidden and all uses have ended.
  void Publish(void* part);
  // Hides the part, if it is the one here.
  void Unpublish(void* part) { part_.compare_exchange_strong(part, nullptr); }

 private:
  friend void UnpublishAll();
  std::atomic<void*> part_ = nullptr;
  PartSlot* next_ = nullptr;  // of the slots that were published
  bool listed_ = false;
};
template <class Part>
inline constinit PartSlot part_slot;

// Makes `part` the one that InUse<Part> finds. Requires that there is none yet, and what
// PartSlot::Publish requires.
template <class Part>
void Publish(Part& part) {
  part_slot<Part>.Publish(&part);
}
// Hides `part`, if it is published, from the uses that begin now. It may still be in use.
template <class Part>
void Unpublish(Part& part) {
  part_slot<Part>.Unpublish(&part);
}
// Hides all parts, and returns once none is in use any more. Must not be called inside a use.
void UnpublishAll();

// Between these two calls UnpublishAll does not return, as if a part were in use. This is for
// fork(), whose child then finds the agent in a consistent state.
void BeginFork();
void EndFork();

// Counts a use while it exists.
class UseCount {
 public:
  UseCount();
  ~UseCount();
  UseCount(const UseCount&) = delete;
  UseCount& operator=(const UseCount&) = delete;
};

// Finds the part of one type. While this exists, UnpublishAll does not return.
template <class Part>
class InUse {
 public:
  InUse() : part_(static_cast<Part*>(part_slot<Part>.part())) {}

  // Returns false if there is no such part, or if it is being removed. The caller must then return.
  explicit operator bool() const { return part_ != nullptr; }
  Part* operator->() const { return part_; }
  Part& operator*() const { return *part_; }

 private:
  const UseCount use_;  // first: UnpublishAll sees this use, or this use sees no part
  Part* const part_;
};

}  // namespace jprof::agent
