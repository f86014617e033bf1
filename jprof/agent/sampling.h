// Callstack sampling: takes the stacks of Java threads when their timers or events say so (signals
// to the thread itself), when a callback of the VM asks for it (triggers.h), or for idle threads
// when a thread of its own does, and adds them to the threads' call trees. With calltree recording
// no stack is walked: the current node is charged.
//
// A sample is a signal handler on the sampled thread: no lock that it may hold, no allocation but
// of tree nodes from the thread's own chunk, no VM call. What cannot be taken is counted in the
// thread's record.
#pragma once

#include <jvmti.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "jprof/agent/control.h"
#include "jprof/agent/sample_gate.h"
#include "jprof/agent/virtual_names.h"
#include "jprof/engine/session.h"
#include "jprof/hotspot/stack_walker.h"
#include "jprof/unwind/kernel_functions.h"
#include "jprof/unwind/unwinder.h"
#include "options/agent_options.h"
#include "ptm/thread_sampler.h"

namespace jprof::agent {

struct SampledThread;  // what is kept for each thread

class Sampling {
 public:
  // In Agent_OnLoad, once; lives as long as the process. `session` gets started before the first
  // AddThread. Error: what this VM or machine lacks.
  static Result<Sampling*> Open(const AgentOptions& options, const hotspot::VmStructs& structs,
                                engine::Session* session);

  // On the thread itself, in callbacks of the VM; it is sampled in between.
  void AddThread(JNIEnv* jni);
  void RemoveThread();

  // In callbacks of the VM about the virtual thread that is mounted on the calling thread.
  void VirtualThreadStarted(std::string_view name);
  void VirtualThreadEnded();

  // In the live phase. Start and Stop may be called any number of times, by any thread.
  void Begin();  // the sampling thread, which keeps to DELAY and DURATION
  void Start();
  void Stop();
  // All samples are forgotten, after those that are being taken have ended. Error: one does not.
  Result<void> Reset();
  bool running() const { return gate_.open(); }
  uint64_t samples() const;  // in the trees now

  // In a callback of the VM on the calling thread: adds its Java stack to trigger `index`'s
  // metrics, with the class of an object (its signature, null: none) as a leaf. `weight`: what the
  // sample stands for, if the metric is weighted.
  void TakeHere(size_t index, int64_t weight, const char* class_signature);
  // For triggers that count and time: null where the calling thread is not sampled.
  SampledThread* Here() const;

  // What `jprof ctl` may ask for; `out`: the profile's directory.
  Control::Handlers ControlHandlers(const std::string& out);

  const std::vector<Trigger>& triggers() const { return triggers_; }

 private:
  Sampling() = default;
  static void OnSignal(int number, siginfo_t* info, void* context);
  void Handle(int number, const siginfo_t& info, const void* context);
  void TakeDue(engine::Thread& thread, const void* context);
  void TakeTicks(engine::Thread& thread, const siginfo_t& info, const void* context, bool allowed);
  void TakeTimed(engine::Thread& thread, size_t timer, int64_t periods, const void* context);
  void TakeStack(engine::Thread& thread, size_t index, int64_t weight, const void* context,
                 ptm::ThreadSampler* timer);
  void ChargeCurrent(engine::Thread& thread, size_t index, int64_t weight, uint64_t pc);
  bool IsOwn(uint64_t pc) const { return pc >= own_start_ && pc < own_end_; }
  engine::Timeline& VirtualRow(engine::Thread& thread);
  profile::Node* ContextOf(engine::Thread& thread, engine::Timeline& timeline, bool in_heap,
                           std::span<hotspot::StackFrame> frames, uint32_t kept, size_t used);
  void Add(engine::Thread& thread, engine::Timeline& timeline, const hotspot::StackWalk& walk,
           profile::Node* node, size_t index, int64_t weight);
  int OpenTimers(SampledThread& sampled);
  void SetTimers(SampledThread& sampled);
  void SetAllTimers();
  bool Quiet();
  void Forget();
  void Loop();
  void AskThreads(size_t index, bool also_running, uint32_t ticks);

  AgentOptions options_;
  std::vector<Trigger> triggers_;
  std::vector<uint32_t> metric_of_;          // the first of each trigger
  std::vector<bool> weighted_;               // that first one
  std::vector<ptm::ThreadSampling> timers_;  // of the triggers that have one
  std::vector<uint32_t> trigger_of_timer_;
  uint32_t metric_count_ = 0;
  bool in_tree_ = false;  // charge the current node
  unwind::Unwinder unwinder_;
  unwind::KernelFunctions kernel_;
  std::unique_ptr<hotspot::StackWalker> walker_;
  engine::Session* session_ = nullptr;
  VirtualNames virtual_names_;
  uint64_t own_start_ = 0, own_end_ = 0;  // the agent's code
  std::mutex control_;                    // Start, Stop, Reset: one at a time
  SampleGate gate_;
  std::atomic<uint32_t> starts_ = 0;         // how often it was started
  std::atomic<bool> kernel_wanted_ = false;  // a stack had frames of the kernel
  std::atomic<bool> timers_failed_ = false;
  uint32_t next_asked_ = 0, last_asked_ = 0;  // places in the list of threads
};

}  // namespace jprof::agent
