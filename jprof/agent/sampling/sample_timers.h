// The timers of sampling. Each trigger that is a timer or a perf event has one ptm::ThreadTimer per
// thread. They run while samples are taken.
#pragma once

#include <atomic>
#include <vector>

#include "common/result.h"
#include "jprof/agent/sampling/sampled_thread.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"
#include "ptm/thread_timer.h"

namespace jprof::agent {

// Records for the report that an error limits the samples of the thread. The first error of each
// flag is kept, and that of kThreadNotSampled replaces that of other flags. EBADF means that the
// program has closed the descriptor.
void Mark(engine::Thread& thread, profile::ThreadFlags flag, int error);

class SampleTimers {
 public:
  // Converts the options. Fails if the agent cannot decode an event, or if TIMER=PERF is given
  // where the machine does not permit it.
  static Result<std::vector<ptm::ThreadTimerSettings>> SettingsOf(
      const options::AgentOptions& options);
  // Returns the triggers of these settings, in the same order.
  static std::vector<uint32_t> TriggersOf(const options::AgentOptions& options);

  // `session` must exist as long as the object.
  SampleTimers(std::vector<ptm::ThreadTimerSettings> settings, std::vector<uint32_t> triggers,
               engine::Session& session);

  size_t count() const { return settings_.size(); }
  uint32_t trigger(size_t timer) const { return triggers_[timer]; }
  // Returns the CPU time that one period of the timer covers in CpuCoverage. It is 0 except for
  // one timer.
  uint64_t covered_ns(size_t timer) const { return timer == clock_ ? settings_[timer].period : 0; }

  // Opens the timers of thread `tid`, or of the calling thread if it is 0, without starting
  // them. Returns 0 if all are open, else an errno. The first failure of the recording is
  // reported to the user.
  int Open(SampledThread& sampled, uint32_t tid);
  // Closes the timers of the calling thread, which is about to end.
  void Close(engine::Thread& thread, SampledThread& sampled);

  // Start the timers if the gate is open, else stop them. Can be called on any thread.
  void StartOrStop(const SampleGate& gate, engine::Thread& thread, SampledThread& sampled);
  void StartOrStopAll(const SampleGate& gate);

  // Updates the profile's sums of CPU time, and marks threads that block the signal. Must not be
  // called on a sampled thread.
  void UpdateCoverage();
  // Restarts these sums.
  void ForgetCoverage();

 private:
  void UpdateCoverage(engine::Thread& thread, SampledThread& sampled, bool on);

  const std::vector<ptm::ThreadTimerSettings> settings_;
  const std::vector<uint32_t> triggers_;
  engine::Session& session_;
  const size_t clock_;  // the first timer of CPU time, or count()
  std::atomic<bool> failure_reported_ = false;
};

}  // namespace jprof::agent
