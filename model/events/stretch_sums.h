// Adds up stretches: what each thread and each processor did, and what threads waited for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <vector>

#include "model/events/stretches.h"
#include "model/events/waits.h"

namespace jprof::model {

// A time in which a thread did not run: from the end of a stretch to the begin of the next one, or
// to the end of the thread or the recording.
struct Gap {
  const Stretch* before = nullptr;
  const Stretch* after = nullptr;  // null if it did not run again
  uint64_t ready = 0;              // when it was ready to run again; `end` if it was not
  uint64_t end = 0;

  uint64_t waited() const { return ready - before->end; }
  uint64_t was_ready() const { return end - ready; }
};

// Calls `visit` for each gap of a thread, in the order of time.
void VisitGaps(const Stretches& stretches, const StretchThread& thread,
               const std::function<void(const Gap&)>& visit);

struct ThreadSums {
  uint64_t ran = 0;         // ns on a processor, without interrupts
  uint64_t interrupts = 0;  // ns of interrupts meanwhile
  uint64_t ready = 0;       // ns in which it was ready and did not run
  std::array<uint64_t, std::size(kWaitReasons)> waited = {};  // ns, by reason; kPreempted: 0
  uint64_t dispatches = 0;                                    // stretches that ended in a dispatch
  uint64_t preempted = 0;  // those that ended although it could have run on
  uint64_t interrupt_count = 0;
  std::vector<uint64_t> counted;  // of each of Stretches::counters

  uint64_t on_processor() const { return ran + interrupts; }
};

// Returns the sums of each thread.
std::vector<ThreadSums> SumThreads(const Stretches& stretches, WaitReasons& reasons);

struct ProcessorSums {
  uint64_t threads = 0, idle = 0, interrupts = 0;  // ns; the latter are in none of the others
  uint64_t unknown = 0;                            // ns in Stretches::gaps
  uint64_t kernel = 0;                             // ns of `threads` within system calls
  uint64_t dispatches = 0, interrupt_count = 0;

  uint64_t total() const { return threads + idle + interrupts + unknown; }
};

// Returns the sums of each processor between two times, ns since the recording began.
std::vector<ProcessorSums> SumProcessors(const Stretches& stretches, uint64_t from, uint64_t to);

}  // namespace jprof::model
