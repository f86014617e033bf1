// The two signals of sampling and their handler, which runs on the sampled thread:
//  - kTimerSignal: a timer or an event counter of the thread has reached its period;
//  - kRequestSignal: the background thread asks for a sample (IDLE, WALL).
// The handler is async-signal-safe: no lock that the thread may hold, no allocation but of tree
// nodes from the thread's own chunk, no call into the VM.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "common/blocked_signals.h"
#include "common/result.h"
#include "jprof/agent/sample_gate.h"
#include "jprof/agent/sample_recorder.h"
#include "jprof/agent/sample_timers.h"

namespace jprof::agent {

inline constexpr int kTimerSignal = SIGPROF;
inline constexpr int kRequestSignal = SIGVTALRM;

// While it lives no sample interrupts the calling thread.
struct NoSamples : BlockedSignals {
  NoSamples() : BlockedSignals({kTimerSignal, kRequestSignal}) {}
};

// Requests a sample of a thread of this process; the handler finds in SampledThread::requested what
// the sample stands for, because signals that arrive together become one.
void RequestSample(uint32_t tid);

class SampleSignals {
 public:
  // All live as long as the handler is installed.
  SampleSignals(const SampleGate& gate, const SampleTimers& timers, SampleRecorder& recorder)
      : gate_(gate), timers_(timers), recorder_(recorder) {}
  SampleSignals(const SampleSignals&) = delete;
  SampleSignals& operator=(const SampleSignals&) = delete;
  ~SampleSignals() { Restore(); }

  // Sets the handler of both signals; from then on the agent's Sampling has to exist. Error:
  // another profiler uses one of them, and nothing is changed.
  Result<void> Install();
  // Sets the handlers that were there before.
  void Restore();

 private:
  static void OnSignal(int number, siginfo_t* info, void* context);
  void Handle(int number, const siginfo_t& info, const void* context);
  void TakeRequested(engine::Thread& thread, SampledThread& sampled, const void* context);
  void TakeExpired(engine::Thread& thread, SampledThread& sampled, const siginfo_t& info,
                   const void* context, bool allowed);
  void TakeTimed(engine::Thread& thread, SampledThread& sampled, size_t timer, int64_t periods,
                 const void* context);

  const SampleGate& gate_;
  const SampleTimers& timers_;
  SampleRecorder& recorder_;
  static constexpr int kSignals[] = {kTimerSignal, kRequestSignal};
  struct sigaction before_[std::size(kSignals)];
  size_t installed_ = 0;  // so many of them
};

}  // namespace jprof::agent
