// Synchronizes threads that take samples with one thread that waits until no sample is in progress.
// Each thread counts its samples, while it takes them, in its SamplesInProgress. After the gate is
// closed, a count that is Empty stays empty until Open, so that other threads may write the data of
// its samples. The sampled thread makes a SampleScope, also in signal handlers and nested. A
// SampleScope never waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace jprof::agent {

class SampleGate {
 public:
  void Open() { open_.store(true); }
  void Close() { open_.store(false); }
  bool open() const { return open_.load(); }

 private:
  std::atomic<bool> open_ = false;
};

// Counts the samples in progress of one thread.
class SamplesInProgress {
 public:
  // Returns whether no sample of the thread is in progress. If so, the writes of its samples are
  // visible to the caller.
  bool Empty() const { return inside_.load() == 0; }

 private:
  friend class SampleScope;
  std::atomic<uint32_t> inside_ = 0;  // written only by its thread
};

// Must exist while a sample is taken. The sample must be dropped unless it is allowed().
class SampleScope {
 public:
  SampleScope(const SampleGate& gate, SamplesInProgress& samples) : inside_(samples.inside_) {
    inside_.store(inside_.load(std::memory_order_relaxed) + 1);
    allowed_ = gate.open();  // after the store: it is seen inside, or it sees a closed gate
  }
  ~SampleScope() {
    inside_.store(inside_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }
  SampleScope(const SampleScope&) = delete;
  bool allowed() const { return allowed_; }

 private:
  std::atomic<uint32_t>& inside_;
  bool allowed_ = false;
};

}  // namespace jprof::agent
