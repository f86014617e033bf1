// Callstack sampling. Its parts:
//  - sample_timers.h: the threads' timers and event counters;
//  - sample_signals.h: the signal handler, on the sampled thread;
//  - sample_recorder.h: walks the stack and adds the sample to the call tree;
//  - sampling_thread.h: the background thread, for idle threads, DELAY and DURATION;
//  - sampled_vm.h: what is changed in the VM;
//  - triggers.h: samples at events of the VM;
//  - sampling_commands.h: the commands of `jprof ctl`.
//
// This class adds and removes threads, and starts, stops and resets sampling.
#pragma once

#include <jni.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "common/result.h"
#include "jprof/agent/sampling/sample_gate.h"
#include "jprof/agent/sampling/sample_recorder.h"
#include "jprof/agent/sampling/sample_signals.h"
#include "jprof/agent/sampling/sample_timers.h"
#include "jprof/agent/sampling/sampled_vm.h"
#include "jprof/agent/sampling/sampling_thread.h"
#include "jprof/agent/vm/event_sink.h"
#include "jprof/agent/vm/recorded_threads.h"
#include "jprof/engine/session.h"
#include "jprof/setup/plan.h"
#include "options/agent_options.h"

namespace jprof::agent {

class Sampling final : public EventSink, public ThreadFollower {
 public:
  // All arguments must exist as long as the object.
  struct Setting {
    JavaVM* java;
    const options::AgentOptions& options;
    const setup::Plan& plan;
    HotspotVm& hotspot;
    engine::Session& session;  // to be started before the first AddThread
    RecordedThreads& threads;
  };
  // Installs the signal handler. Fails if the VM or the machine does not support sampling, or if
  // something else uses the signals; the message has the reason.
  static Result<std::unique_ptr<Sampling>> Open(const Setting& setting);
  // Makes the VM describe compiled code and report events. Call this when the session has begun.
  void BeginEvents() { vm_.Begin(); }
  // Starts the background thread, and starts sampling unless DELAY or NOSTART is given. Adds the
  // calling thread. Requires the live phase.
  void Begin(JNIEnv* jni);
  // Stops sampling and the background thread, and waits at most 1 s until no sample is in progress.
  void End();
  // Disables the events. Callbacks may still be in progress.
  void EndEvents() { vm_.End(); }
  // Restores the previous signal handlers and leaves the VM as it was. Call this when no thread of
  // the session has timers any more, and no callback is in progress.
  void Close();

  // A thread is sampled between the two calls. Call them in callbacks of the VM.
  void AddThread(JNIEnv* jni) override;
  void RemoveThread() override;
  // The thread is sampled as soon as sampling begins. Call this before Begin.
  bool FollowsEarlyThreads() const override { return true; }
  bool AddEarlyThread(engine::Thread& state, const ExistingThread& thread) override;
  // Returns the state of the calling thread, or null if it is not sampled.
  SampledThread* CurrentThread() { return signals_.CurrentThread(); }

  // Start and stop sampling. They can be called any number of times, on any thread.
  void Start();
  void Stop();
  // Discards all samples after samples in progress have ended. Fails if one does not end.
  Result<void> Reset();
  // Updates the covered CPU time, and notes whether the handler of a signal has been replaced. Can
  // be called on any thread while samples are taken, but not inside a sample.
  void LookAround();
  bool running() const { return gate_.open(); }
  // Returns a number that changes with each Start and Reset.
  uint32_t run() const { return run_; }

  EventSink::ThreadEvents* EventsOfThread() override;
  bool TakesEvents() const override { return running(); }
  // Takes the Java stack of the calling thread, in a callback of the VM (sample_recorder.h).
  void AddEvent(size_t trigger, int64_t weight, const char* leaf) override;

 private:
  Sampling(const Setting& setting, std::unique_ptr<SampleRecorder> recorder,
           std::vector<ptm::ThreadTimerSettings> timers);
  Result<void> OpenSignals();
  SampledThread* NewThread(engine::Thread& thread, const unwind::StackBounds& stack,
                           uint64_t vm_thread, uint32_t tid);
  bool AwaitNoSample();

  const options::AgentOptions& options_;
  engine::Session& session_;
  std::mutex control_;  // serialises Start, Stop and Reset
  SampleGate gate_;
  std::atomic<uint32_t> run_ = 0;
  SampleTimers timers_;
  std::unique_ptr<SampleRecorder> recorder_;
  SampleSignals signals_;
  SampledVm vm_;
  SamplingThread thread_;
};

}  // namespace jprof::agent
