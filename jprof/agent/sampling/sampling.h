// Callstack sampling. Its parts:
//  - sample_timers.h: the threads' timers and event counters;
//  - sample_signals.h: the signal handler, on the sampled thread;
//  - sample_recorder.h: walks the stack and adds the sample to the call tree;
//  - sampling_thread.h: the background thread, for idle threads, DELAY and DURATION;
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
#include "jprof/agent/sampling/sampling_thread.h"
#include "jprof/agent/vm/early_threads.h"
#include "jprof/agent/vm/event_sink.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"

namespace jprof::agent {

class Sampling final : public EventSink {
 public:
  // `session` must be started before the first AddThread. `session`, `options` and `hotspot` must
  // exist as long as the object. Fails if the VM or the machine does not support sampling; the
  // message has the reason.
  static Result<std::unique_ptr<Sampling>> Open(const options::AgentOptions& options,
                                                HotspotVm& hotspot, engine::Session& session);

  // Installs the signal handler, which finds this object through AgentUse. Fails if something
  // else uses the signals.
  Result<void> InstallSignals();
  // Restores the previous handlers. Call this when no thread of `session` has timers any more.
  void RestoreSignals() { signals_.Restore(); }

  // Add and remove the calling thread, which is sampled between the two calls. Call them in
  // callbacks of the VM.
  void AddThread(JNIEnv* jni);
  void RemoveThread();

  // Add a thread that exists when the agent is attached. Call these before Begin. Such a thread is
  // sampled as soon as sampling begins; it takes its state at its first sample or event.
  void ReserveEarlyThreads(size_t count) { early_.Reserve(count); }
  void AddEarlyThread(engine::Thread& thread, uint64_t vm_thread, const unwind::StackBounds& stack);
  // Returns the state of the calling thread, or null if it is not sampled.
  SampledThread* CurrentThread() { return signals_.CurrentThread(); }

  // Starts the background thread, and starts sampling unless DELAY or NOSTART is given.
  // Requires the live phase.
  void Begin();
  // Stops sampling and the background thread, and waits at most 1 s until no sample is in progress.
  // Returns false if one still is.
  bool End();
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

  VirtualRows& virtual_rows() { return recorder_->virtual_rows(); }
  SampleSignals& signals() { return signals_; }

 private:
  Sampling(const options::AgentOptions& options, engine::Session& session,
           std::unique_ptr<SampleRecorder> recorder, std::vector<ptm::ThreadTimerSettings> timers);
  SampledThread* NewThread(engine::Thread& thread, const unwind::StackBounds& stack,
                           uint64_t vm_thread, uint32_t tid);
  bool AwaitNoSample();

  const options::AgentOptions& options_;
  engine::Session& session_;
  std::mutex control_;  // serialises Start, Stop and Reset
  SampleGate gate_;
  std::atomic<uint32_t> run_ = 0;
  SampleTimers timers_;
  EarlyThreads early_;
  std::unique_ptr<SampleRecorder> recorder_;
  SampleSignals signals_;
  SamplingThread thread_;
};

}  // namespace jprof::agent
