// How much of the sampled threads' CPU time their timers' signals stand for, whatever else happens
// to the signals. The sums are in the profile's header and at most a second old.
#pragma once

#include <atomic>
#include <cstdint>

#include "profile/layout.h"

namespace jprof::agent {

// Of one thread. Valid in zeroed memory. The caller excludes simultaneous calls of Update.
class CpuCoverage {
 public:
  // Signal handler: a signal of the thread's timer stood for so much CPU time.
  void Signalled(uint64_t ns) {
    signalled_ns_.store(signalled_ns_.load(std::memory_order_relaxed) + ns,
                        std::memory_order_relaxed);
  }
  // Adds what has passed since the last call to the sums, if sampling was on. `on`: it is from now
  // on. Not in a signal handler.
  void Update(profile::ControlHeader& header, profile::ThreadRecord& thread, bool on);
  // Looks whether the thread ran without being sampled because it blocks `signal`, and marks it.
  // Call between two Updates, not on the thread itself.
  void LookForBlocked(profile::ThreadRecord& thread, int signal) const;
  bool on() const { return on_; }

 private:
  std::atomic<uint64_t> signalled_ns_ = 0;
  // At the last Update, and between it and the one before.
  uint64_t cpu_ns_ = 0, added_ns_ = 0, ran_ns_ = 0, covered_ns_ = 0;
  bool on_ = false;
};

}  // namespace jprof::agent
