// Callstack sampling, put together from its parts:
//  - sample_timers.h: the threads' timers and event counters;
//  - sample_signals.h: the signal handler, on the sampled thread;
//  - sample_recorder.h: walks the stack and charges the call tree;
//  - sampling_thread.h: the background thread, for idle threads, DELAY and DURATION;
//  - triggers.h: events of the VM that are sampled;
//  - sampling_commands.h: what `jprof ctl` can do.
// This class adds and removes threads and starts, stops and resets the whole.
#pragma once

#include <jni.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "common/result.h"
#include "jprof/agent/sample_gate.h"
#include "jprof/agent/sample_recorder.h"
#include "jprof/agent/sample_signals.h"
#include "jprof/agent/sample_timers.h"
#include "jprof/agent/sampling_thread.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"

namespace jprof::agent {

class Sampling {
 public:
  // In Agent_OnLoad, once. `session` is started before the first AddThread; it and `options` live
  // as long as this object: to the end of the process once Begin was called. Error: what this VM or
  // machine lacks.
  static Result<std::unique_ptr<Sampling>> Open(const AgentOptions& options,
                                                const hotspot::VmStructs& structs,
                                                engine::Session& session);

  // Sets the signal handler. Error: another profiler uses the signals. From then on TheAgent() has
  // to have this object.
  Result<void> InstallSignals() { return signals_.Install(); }
  // After a failed start of the agent.
  void RestoreSignals() { signals_.Restore(); }

  // On the thread itself, in callbacks of the VM; it is sampled in between.
  void AddThread(JNIEnv* jni);
  void RemoveThread();

  // In the live phase: starts the background thread, and sampling unless DELAY or NOSTART says
  // otherwise.
  void Begin();
  // Any number of times, by any thread.
  void Start();
  void Stop();
  // Forgets all samples, once those that are being taken have ended. Error: one does not end.
  Result<void> Reset();
  bool running() const { return gate_.open(); }
  // Changes with each Start and Reset.
  uint32_t run() const { return run_; }

  // In a callback of the VM on the calling thread: see SampleRecorder::TakeJavaStack.
  void TakeJavaStack(size_t trigger, int64_t weight, const char* class_signature);

  VirtualRows& virtual_rows() { return recorder_->virtual_rows(); }
  SampleSignals& signals() { return signals_; }

 private:
  Sampling(const AgentOptions& options, engine::Session& session,
           std::unique_ptr<SampleRecorder> recorder, std::vector<ptm::ThreadTimerSettings> timers);

  const AgentOptions& options_;
  engine::Session& session_;
  std::mutex control_;  // Start, Stop, Reset: one at a time
  SampleGate gate_;
  std::atomic<uint32_t> run_ = 0;
  SampleTimers timers_;
  std::unique_ptr<SampleRecorder> recorder_;
  SampleSignals signals_;
  SamplingThread thread_;
};

}  // namespace jprof::agent
