// Computes how much of the sampled threads' CPU time is covered by their timers' signals, whatever
// else happens to the signals. The sums are in the profile's header and at most a second old.
#pragma once

#include <atomic>
#include <cstdint>

#include "profile/files/layout.h"

namespace jprof::agent {

// The coverage of one thread. Zeroed memory is a valid object. The caller must not call
// Update concurrently.
class CpuCoverage {
 public:
  // Adds CPU time that a signal of the thread's timer covers. Called in the signal handler.
  void Signalled(uint64_t ns) {
    signalled_ns_.store(signalled_ns_.load(std::memory_order_relaxed) + ns,
                        std::memory_order_relaxed);
  }
  // Adds the time since the last call to the sums if sampling was on. `on` is whether it is on from
  // now on. Must not be called in a signal handler.
  void Update(profile::ControlHeader& header, profile::ThreadRecord& thread, bool on);
  // Marks the thread if it ran without being sampled because it blocks `signal`. Call this between
  // two calls of Update, and not on the thread itself.
  void LookForBlocked(profile::ThreadRecord& thread, int signal) const;
  bool on() const { return on_; }

 private:
  std::atomic<uint64_t> signalled_ns_ = 0;
  // The CPU time and the covered time at the last Update, and their growth since the one before.
  uint64_t cpu_ns_ = 0, added_ns_ = 0, ran_ns_ = 0, covered_ns_ = 0;
  bool on_ = false;
};

}  // namespace jprof::agent
