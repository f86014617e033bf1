// Samples in the call tree: a stack is added as the path of its frames, or the current node of a
// recorded call tree is charged. Owner: the sampled thread. Callable in a signal handler of that
// thread and in callbacks of the VM on it; a handler that finds the thread busy with its own tree
// must leave it alone: see TreeInUse.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "jprof/engine/thread.h"

namespace jprof::engine {

// Claims the thread's tree for the time of a sample, or of whatever else changes it and may be
// interrupted by one.
class TreeInUse {
 public:
  explicit TreeInUse(Thread& thread) : thread_(thread), outermost_(Busy() == 0) {
    thread_.busy.store(Busy() + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~TreeInUse() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_.busy.store(Busy() - 1, std::memory_order_relaxed);
  }
  TreeInUse(const TreeInUse&) = delete;
  // False: it was claimed already, by what this interrupts.
  bool Outermost() const { return outermost_; }

 private:
  // Only the thread and its signal handlers change it: no atomic addition is needed.
  uint32_t Busy() const { return thread_.busy.load(std::memory_order_relaxed); }

  Thread& thread_;
  const bool outermost_;
};

// The id of what runs in a sampled frame; `key`: the VM's method or a function's address, and
// `source` says which.
profile::MethodId SampledMethod(Thread& thread, MethodSource& source, uint64_t key);

// Steps down the tree of `timeline` from a node (0: the root), by words as in a node. While it
// exists, the thread's new nodes come from that timeline's chunk.
class Path {
 public:
  Path(Thread& thread, Timeline& timeline, uint32_t from);
  ~Path();
  Path(const Path&) = delete;
  void Step(uint32_t word);
  profile::Node* node() const { return node_; }
  uint32_t index() const { return static_cast<uint32_t>(node_ - thread_.nodes); }

 private:
  Thread& thread_;
  Timeline* const foreign_;  // null: the thread's own
  profile::Node* node_;
};

// Whether a path may begin at a node that was found before. Not where recursion is to be folded
// from now on and the timeline has yet to begin its second tree: the next path must begin at the
// root.
bool MayGoOn(const Thread& thread, const Timeline& timeline);

// The context of a stack in the tree of `timeline`: the thread's own, or one of Session::AddRow.
// Words as in a node, innermost first. Never null: what finds no room is charged to an overflow
// node, as entries are. A method that is interpreted here and compiled there has a node of each
// type.
profile::Node* ContextOf(Thread& thread, Timeline& timeline,
                         std::span<const uint32_t> innermost_first);

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
