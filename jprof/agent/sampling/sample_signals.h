// The two signals of sampling and their handler, which runs on the sampled thread:
//  - kTimerSignal: a timer or an event counter of the thread has reached its period;
//  - kRequestSignal: the background thread requests a sample (IDLE, WALL).
// The handler is async-signal-safe: it takes no lock that the thread may hold, allocates only tree
// nodes from the thread's own chunk, and does not call the VM.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/blocked_signals.h"
#include "common/result.h"
#include "jprof/agent/sampling/sample_gate.h"
#include "jprof/agent/sampling/sample_recorder.h"
#include "jprof/agent/sampling/sample_timers.h"
#include "jprof/agent/vm/recorded_threads.h"

namespace jprof::agent {

inline constexpr int kTimerSignal = SIGSTKFLT;
inline constexpr int kRequestSignal = SIGVTALRM;

// While it exists, no sample interrupts the calling thread.
struct ScopedSampleBlock : BlockedSignals {
  ScopedSampleBlock() : BlockedSignals({kTimerSignal, kRequestSignal}) {}
};

// Requests a sample of a thread of this process. SampledThread::requested contains the number of
// ticks that the sample represents, because the kernel merges pending signals.
void RequestSample(uint32_t tid);

class SampleSignals {
 public:
  // All arguments must exist while the handler is installed.
  SampleSignals(const SampleGate& gate, const SampleTimers& timers, SampleRecorder& recorder,
                RecordedThreads& threads)
      : gate_(gate), timers_(timers), recorder_(recorder), threads_(threads) {}
  SampleSignals(const SampleSignals&) = delete;
  SampleSignals& operator=(const SampleSignals&) = delete;
  ~SampleSignals() { Close(); }

  // Installs the handler of the signals that are needed, and then lets it find this object. Fails
  // if one of them already has a handler; then nothing is changed, and no handler uses the object.
  Result<void> Open(bool timers, bool requests);
  // Restores the previous handlers and discards pending signals. Call this once all timers are
  // closed and no sample is requested any more.
  void Close();

  // A signal whose handler has been replaced, and by what: the path of a library, or a description.
  struct Taken {
    int signal = 0;
    std::string by;
  };
  // Returns the signal for which another handler, or none, is installed now in place of this one.
  std::optional<Taken> TakenOver() const;

  // Returns the state of the calling thread, or null if it is not sampled. An early thread takes
  // its own.
  SampledThread* CurrentThread();

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
  RecordedThreads& threads_;
  struct Installed {
    int signal;
    struct sigaction before;
  };
  std::vector<Installed> installed_;
};

}  // namespace jprof::agent
