#include "model/events/stretch_sums.h"

#include <algorithm>
#include <unordered_map>

namespace jprof::model {
namespace {

uint64_t Overlap(uint64_t begin, uint64_t end, uint64_t from, uint64_t to) {
  return std::min(end, to) > std::max(begin, from) ? std::min(end, to) - std::max(begin, from) : 0;
}

}  // namespace

void VisitGaps(const Stretches& stretches, const StretchThread& thread,
               const std::function<void(const Gap&)>& visit) {
  for (size_t i = thread.first; i < thread.first + thread.count; ++i) {
    const Stretch& before = stretches.stretches[i];
    if (before.state == StopState::kDead || before.state == StopState::kRuns) continue;
    const Stretch* after =
        i + 1 < thread.first + thread.count ? &stretches.stretches[i + 1] : nullptr;
    Gap gap = {.before = &before, .after = after};
    // Stretches overlap where records were lost.
    gap.end = std::max(after != nullptr ? after->begin : thread.ended, before.end);
    gap.ready = after != nullptr ? std::clamp(after->ready, before.end, gap.end) : gap.end;
    if (after == nullptr && before.state == StopState::kRunnable) gap.ready = before.end;
    visit(gap);
  }
}

std::vector<ThreadSums> SumThreads(const Stretches& stretches, WaitReasons& reasons) {
  std::vector<ThreadSums> sums(stretches.threads.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    ThreadSums& sum = sums[i];
    const StretchThread& thread = stretches.threads[i];
    const size_t counters = stretches.counters.size();
    sum.counted.resize(counters);
    for (size_t k = thread.first; k < thread.first + thread.count; ++k) {
      const Stretch& stretch = stretches.stretches[k];
      for (size_t c = 0; c < counters; ++c) sum.counted[c] += stretches.counted[k * counters + c];
      const uint64_t interrupts = std::min(stretch.interrupts, stretch.duration());
      sum.ran += stretch.duration() - interrupts;
      sum.interrupts += interrupts;
      sum.dispatches += stretch.state != StopState::kRuns;
      sum.preempted += stretch.state == StopState::kRunnable;
    }
    if (thread.count != 0) {  // before it first ran
      const Stretch& first = stretches.stretches[thread.first];
      sum.ready += first.begin - std::min(first.ready, first.begin);
    }
    VisitGaps(stretches, thread, [&](const Gap& gap) {
      sum.ready += gap.was_ready();
      sum.waited[static_cast<size_t>(reasons.Of(*gap.before))] += gap.waited();
    });
  }
  for (const Interrupt& interrupt : stretches.interrupts) {
    if (interrupt.thread != kNoThread) ++sums[interrupt.thread].interrupt_count;
  }
  return sums;
}

std::vector<ProcessorSums> SumProcessors(const Stretches& stretches, uint64_t from, uint64_t to) {
  std::vector<ProcessorSums> sums(stretches.processors);
  for (const Stretch& stretch : stretches.stretches) {
    ProcessorSums& sum = sums[stretch.processor];
    const uint64_t inside = Overlap(stretch.begin, stretch.end, from, to);
    sum.threads += inside;
    // The stretch may be divided by the interval: its parts have the same shares.
    if (stretch.kernel != 0 && inside != 0)
      sum.kernel += static_cast<uint64_t>(
          static_cast<double>(std::min(stretch.kernel, stretch.duration())) *
          static_cast<double>(inside) / static_cast<double>(stretch.duration()));
    sum.dispatches += stretch.begin >= from && stretch.begin < to;
  }
  for (const Stretch& stretch : stretches.idle)
    sums[stretch.processor].idle += Overlap(stretch.begin, stretch.end, from, to);
  for (const Stretch& gap : stretches.gaps)
    sums[gap.processor].unknown += Overlap(gap.begin, gap.end, from, to);
  for (const Interrupt& interrupt : stretches.interrupts) {
    ProcessorSums& sum = sums[interrupt.processor];
    const uint64_t time = Overlap(interrupt.begin, interrupt.begin + interrupt.duration, from, to);
    sum.interrupts += time;
    uint64_t& of = interrupt.in_gap                ? sum.unknown
                   : interrupt.thread != kNoThread ? sum.threads
                                                   : sum.idle;
    of -= std::min(of, time);
    sum.interrupt_count += interrupt.begin >= from && interrupt.begin < to;
  }
  for (ProcessorSums& sum : sums) sum.kernel = std::min(sum.kernel, sum.threads);
  return sums;
}

}  // namespace jprof::model
