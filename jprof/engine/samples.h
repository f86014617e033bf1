// Adds samples to the call tree: a stack as the path of its frames, or a sample of the current node
// of a recorded call tree. Only the sampled thread may call these functions, in a signal handler or
// in callbacks of the VM. A handler that interrupts the thread's own tree update must not touch the
// tree: see TreeClaim.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "jprof/engine/method_table.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// Claims the thread's tree for a sample, or for any other change that a sample may interrupt.
class TreeClaim {
 public:
  explicit TreeClaim(Thread& thread) : thread_(thread), acquired_(Busy() == 0) {
    thread_.busy.store(Busy() + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~TreeClaim() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_.busy.store(Busy() - 1, std::memory_order_relaxed);
  }
  TreeClaim(const TreeClaim&) = delete;
  // Returns false if the interrupted code had already claimed it.
  bool acquired() const { return acquired_; }

 private:
  // Only the thread and its signal handlers change it: no atomic addition is needed.
  uint32_t Busy() const { return thread_.busy.load(std::memory_order_relaxed); }

  Thread& thread_;
  const bool acquired_;
};

// Returns the id of the method or function in a sampled frame. `key` is the VM's method or a
// function's address, which `source` describes.
profile::MethodId SampledMethod(Thread& thread, MethodSource& source, uint64_t key);

// Descends the tree of `timeline` from a node (0 is the root). While it exists, the thread
// allocates new nodes from that timeline's chunk.
class Path {
 public:
  Path(Thread& thread, Timeline& timeline, uint32_t from);
  ~Path();
  Path(const Path&) = delete;
  void Step(profile::MethodRef ref);
  // Goes to a site of the method that the path has reached.
  void StepToSite(profile::MethodRef site);
  profile::Node* node() const { return node_; }
  uint32_t index() const { return static_cast<uint32_t>(node_ - thread_.nodes); }

 private:
  Thread& thread_;
  Timeline* const foreign_;  // null for the thread's own
  profile::Node* node_;
};

// Returns whether a path may begin at a node that was found before. It may not if recursion must
// be folded from now on and the timeline has not begun its second tree: the next path must then
// begin at the root.
bool MayReuseNodes(const Thread& thread, const Timeline& timeline);

// Returns the context of a stack in the tree of `timeline`, which is the thread's own or one of
// Timelines::OpenRow. Never returns null: without space the sample is attributed to an overflow
// node, as entries are. A method with frames of different types has a node per type.
profile::Node* ContextOf(Thread& thread, Timeline& timeline,
                         std::span<const profile::MethodRef> innermost_first);

// Adds to a metric of the profile.
inline void AddToMetric(Thread& thread, profile::Node* node, uint32_t metric, int64_t value,
                        uint32_t metric_count) {
  if (metric == 0) {
    node->self += value;
  } else {
    thread.extra[static_cast<size_t>(node - thread.nodes) * (metric_count - 1) + metric - 1] +=
        value;
  }
}

}  // namespace jprof::engine
