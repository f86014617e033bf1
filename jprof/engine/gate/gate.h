// Limits what a session records (docs/TRIGGERS.md): to calls that are made inside of certain
// methods, the gates, after some of their calls, and to the time between Start and Stop.
//
// A thread that is outside has an attention bit (kOutside, kPaused), so that its events leave the
// fast path by a condition that this has anyway, and return at once (IsOff in gated_events.h). The
// gates are found by no cache under their own handle (method_cache.h): each of their events leaves
// the fast path.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/sleep_lock.h"
#include "jprof/engine/method_table.h"
#include "jprof/engine/session_options.h"
#include "profile/files/writer.h"

namespace jprof::engine {

class ThreadRegistry;

class Gate {
 public:
  // All of them must exist as long as the object.
  Gate(const SessionOptions& options, profile::Writer& writer, const MethodTable& methods,
       ThreadRegistry& threads)
      : options_(options), writer_(writer), methods_(methods), threads_(threads) {}

  // Begins paused if the options say so. Call it once, before the first event.
  void Begin();

  // Returns whether only calls inside of certain methods are recorded.
  bool has_methods() const { return methods_.has_gates(); }
  bool IsGate(profile::MethodId method) const { return methods_.IsGate(method); }
  // Counts an outermost call of a gate. Returns whether it is recorded.
  bool TakeCall();

  // Start and stop recording on all threads. They can be called any number of times, on any thread.
  // A thread that runs at the same time sees it at its next event.
  void Start();
  void Stop();
  bool paused() const { return paused_.load(); }
  // Returns whether it was ever paused: methods may then exit whose entries were not recorded.
  bool was_paused() const { return was_paused_.load(std::memory_order_relaxed); }
  // Returns a number that changes with each Start. The stacks of an earlier run are not valid.
  uint32_t run() const { return run_.load(std::memory_order_acquire); }

 private:
  const SessionOptions& options_;
  profile::Writer& writer_;
  const MethodTable& methods_;
  ThreadRegistry& threads_;
  SleepLock lock_;  // serialises Start and Stop
  std::atomic<bool> paused_ = false, was_paused_ = false;
  std::atomic<uint32_t> run_ = 0;
};

}  // namespace jprof::engine
