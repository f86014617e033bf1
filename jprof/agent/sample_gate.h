// Whether samples may be taken, for threads that take them and one that wants to be sure that none
// is being taken. A sample is let through the gate or not; after Close, each thread's passage that
// is Empty stays so until Open, and what samples write may be written by others.
//
// Passing: the thread itself, also in signal handlers, and one sample inside another. Never waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace jprof::agent {

class SampleGate {
 public:
  // One for each thread.
  class Passage {
   public:
    // Nobody is in it. What was written there is visible to the caller.
    bool Empty() const { return inside_.load() == 0; }

   private:
    friend class SampleGate;
    std::atomic<uint32_t> inside_ = 0;  // written by its thread only
  };

  // A sample's way through.
  class Pass {
   public:
    Pass(const SampleGate& gate, Passage& passage) : inside_(passage.inside_) {
      inside_.store(inside_.load(std::memory_order_relaxed) + 1);
      allowed_ = gate.open();  // in this order: either it is seen inside or it sees a closed gate
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
