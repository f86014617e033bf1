// Adds samples to the call trees: walks the sampled thread's stack and attributes the sample to
// the node of its context. With calltree recording it attributes the sample to the current node of
// the recorded tree.
//
// It runs on the sampled thread, in the signal handler (sample_signals.h) or in a callback of the
// VM. In a handler it takes no lock, allocates only tree nodes from the thread's own chunk and
// calls nothing in the VM. Samples that cannot be taken are counted in the thread's record.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/result.h"
#include "jprof/agent/sampling/sampled_thread.h"
#include "jprof/agent/sampling/virtual_rows.h"
#include "jprof/agent/vm/hotspot_vm.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/walk/stack_walker.h"
#include "jprof/unwind/kernel_functions.h"
#include "jprof/unwind/unwinder.h"
#include "options/agent_options.h"

namespace jprof::agent {

class SampleRecorder {
 public:
  // Fails if the VM or the machine does not support sampling; the message has the reason. `hotspot`
  // must exist as long as the object.
  static Result<std::unique_ptr<SampleRecorder>> Open(const options::AgentOptions& options,
                                                      HotspotVm& hotspot, engine::Session& session);

  size_t trigger_count() const { return triggers_.size(); }
  uint32_t metric_count() const { return metric_count_; }
  // Returns whether samples are attributed to the current node of the recorded tree, without a
  // stack walk.
  bool attributes_to_current() const { return attributes_to_current_; }

  // Attributes the sample to the current node of the recorded tree or, in code optimised together
  // with its woven counter, to the inlined method at `pc`. Samples inside the agent are only
  // counted. Called in the signal handler.
  void AttributeToCurrent(engine::Thread& thread, size_t trigger, int64_t weight, uint64_t pc);

  // Adds the interrupted stack. `timer` has its kernel frames, which are the innermost ones, and is
  // null if there are none. Called in the signal handler.
  void TakeStack(engine::Thread& thread, size_t trigger, int64_t weight, const void* context,
                 ptm::ThreadTimer* timer);

  // Adds the Java stack of the calling thread, with a class as a leaf if `class_signature` is not
  // null. `weight` is the value of the sample if the metric is weighted. Called in a callback of
  // the VM, inside an allowed SampleScope of the calling thread.
  void TakeJavaStack(engine::Thread& thread, SampledThread& sampled, size_t trigger, int64_t weight,
                     const char* class_signature);

  VirtualRows& virtual_rows() { return virtual_rows_; }
  const hotspot::StackWalker& walker() const { return *walker_; }

  // Return the tables that the background thread extends while samples are taken.
  unwind::Unwinder& unwinder() { return unwinder_; }
  unwind::KernelFunctions& kernel_functions() { return kernel_functions_; }
  // Returns whether a stack had kernel frames and the kernel functions have not been read yet.
  bool wants_kernel_functions() const { return saw_kernel_frames_.load(std::memory_order_relaxed); }

 private:
  struct Columns {
    uint32_t first = 0;     // index of the first metric in the profile
    bool weighted = false;  // the first is weighted, and the next one counts the samples
  };

  SampleRecorder(const options::AgentOptions& options, HotspotVm& hotspot,
                 engine::Session& session);
  bool IsOwn(uint64_t pc) const { return pc >= own_begin_ && pc < own_end_; }
  engine::Timeline& TimelineOf(engine::Thread& thread, const hotspot::StackWalk& walk);
  size_t KernelLeaves(engine::Thread& thread, SampledThread& sampled, ptm::ThreadTimer* timer);
  profile::Node* InlinedNode(engine::Thread& thread, profile::Node* current, uint64_t pc);
  profile::Node* ContextOf(engine::Thread& thread, engine::Timeline& timeline, bool in_heap,
                           std::span<hotspot::StackFrame> frames, uint32_t kept, size_t leaves);
  void Add(engine::Thread& thread, engine::Timeline& timeline, const hotspot::StackWalk& walk,
           profile::Node* node, size_t trigger, int64_t weight);

  engine::MethodSource& java_;
  hotspot::Sites sites_;
  engine::Session& session_;
  std::vector<Columns> triggers_;
  uint32_t metric_count_ = 0;
  const bool attributes_to_current_, java_only_, by_name_;
  uint64_t own_begin_ = 0, own_end_ = 0;  // code of the agent
  unwind::Unwinder unwinder_;
  unwind::KernelFunctions kernel_functions_;
  std::unique_ptr<hotspot::StackWalker> walker_;
  VirtualRows virtual_rows_;
  std::atomic<bool> saw_kernel_frames_ = false;
};

}  // namespace jprof::agent
