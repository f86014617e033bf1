// Decides when a timer's signal may walk the stack. If a walk takes longer than the period, the
// next signal is pending when the handler returns, and the program makes no progress. So after the
// second of two walks the program runs for as long as the shorter one took.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace jprof::agent {

// The times are those of the time stamp counter. Zeroed memory is a valid object.
class WalkPause {
 public:
  bool MayWalk(int64_t now) const { return now >= until_; }
  // Notes a walk. The longer of two walks does not count, because the kernel may suspend a thread
  // in a walk for any time, and the periods of a pause that long would all be attributed to one
  // stack.
  void Walked(int64_t begin, int64_t end) {
    const int64_t took = end - begin;
    until_ = end + std::min(took, std::exchange(last_, took));
  }

 private:
  int64_t until_ = 0, last_ = 0;
};

}  // namespace jprof::agent
