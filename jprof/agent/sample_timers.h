// The timers of sampling: for each trigger that is a timer or a perf event one ptm::ThreadTimer
// per thread. They run while samples are taken.
#pragma once

#include <atomic>
#include <vector>

#include "common/result.h"
#include "jprof/agent/sampled_thread.h"
#include "jprof/engine/session.h"
#include "options/agent_options.h"
#include "ptm/thread_timer.h"

namespace jprof::agent {

class SampleTimers {
 public:
  // Converts the options. Error: an event that the agent cannot decode, or
  // TIMER=PERF where the machine does not permit it.
  static Result<std::vector<ptm::ThreadTimerSettings>> SettingsOf(const AgentOptions& options);
  // The triggers of these settings, in the same order.
  static std::vector<uint32_t> TriggersOf(const AgentOptions& options);

  SampleTimers(std::vector<ptm::ThreadTimerSettings> settings, std::vector<uint32_t> triggers)
      : settings_(std::move(settings)), triggers_(std::move(triggers)) {}

  size_t count() const { return settings_.size(); }
  uint32_t trigger(size_t timer) const { return triggers_[timer]; }

  // Opens the timers of thread `tid`, stopped; 0: of the calling thread. Returns an errno, 0 if all
  // are open. The first failure of the recording is reported to the user.
  int Open(SampledThread& sampled, uint32_t tid);
  // Closes the timers of the calling thread, which ends.
  static void Close(SampledThread& sampled);

  // Starts the timers if the gate is open, else stops them. Callable on any thread.
  static void StartOrStop(const SampleGate& gate, SampledThread& sampled);
  static void StartOrStopAll(const SampleGate& gate, engine::Session& session);

 private:
  const std::vector<ptm::ThreadTimerSettings> settings_;
  const std::vector<uint32_t> triggers_;
  std::atomic<bool> failure_reported_ = false;
};

}  // namespace jprof::agent
