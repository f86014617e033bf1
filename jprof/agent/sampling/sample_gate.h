// Synchronizes threads that take samples with one thread that waits until no sample is in progress.
// A sample that passes the gate is counted in its thread's passage. After Close, a passage that is
// Empty stays empty until Open, so that other threads may write the data of its samples. The
// sampled thread makes a Pass, also in signal handlers and nested. A Pass never waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace jprof::agent {

class SampleGate {
 public:
  // Each thread has one passage.
  class Passage {
   public:
    // Returns whether no sample of the thread is in progress. If so, the writes of its samples are
    // visible to the caller.
    bool Empty() const { return inside_.load() == 0; }

   private:
    friend class SampleGate;
    std::atomic<uint32_t> inside_ = 0;  // written only by its thread
  };

  // Must exist while a sample is taken. The sample must be dropped unless it is allowed().
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
