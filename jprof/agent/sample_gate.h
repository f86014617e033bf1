// Synchronizes threads that take samples with one thread that waits until no sample is in progress.
// A sample that passes the gate is counted in its thread's passage. After Close, a passage that is
// Empty stays empty until Open, so that other threads may write the data of its samples.
// A Pass is made by the sampled thread, also in signal handlers and nested. It never waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace jprof::agent {

class SampleGate {
 public:
  // One per thread.
  class Passage {
   public:
    // Whether no sample of the thread is in progress. Their writes are then visible to the caller.
    bool Empty() const { return inside_.load() == 0; }

   private:
    friend class SampleGate;
    std::atomic<uint32_t> inside_ = 0;  // written by its thread only
  };

  // Exists while a sample is taken; the sample must be dropped unless it is allowed().
  class Pass {
   public:
    Pass(const SampleGate& gate, Passage& passage) : inside_(passage.inside_) {
      inside_.store(inside_.load(std::memory_order_relaxed) + 1);
      allowed_ = gate.open();  // after the store: it is seen inside, or it sees a closed gate
    }
    ~Pass() {
      inside_.store(inside_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    }
    Pass(const Pass&) = delete;
    bool allowed() const { return allowed_; }

   private:
    std::atomic<uint32_t>& inside_;
    bool allowed_ = false;
  };

  void Open() { open_.store(true); }
  void Close() { open_.store(false); }
  bool open() const { return open_.load(); }

 private:
  std::atomic<bool> open_ = false;
};

}  // namespace jprof::agent
