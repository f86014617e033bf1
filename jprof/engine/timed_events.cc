#include "jprof/engine/timed_events.h"

#include <algorithm>

#include "jprof/engine/session.h"
#include "ptm/tsc.h"

namespace jprof::engine {
namespace {

bool WasDispatched(const Thread& thread) {
  return __atomic_load_n(thread.page_lock, __ATOMIC_RELAXED) != thread.page_seen;
}

// Draws the next event to be timed.
void DrawTimedEvent(Thread& thread) {
  thread.random ^= thread.random << 13;
  thread.random ^= thread.random >> 7;
  thread.random ^= thread.random << 17;
  // The draw is uniform in [1, 2 * period - 1], so that its mean is the period.
  const uint64_t span = uint64_t{2} * thread.session->timing().period - 1;
  thread.until_timed = 1 + static_cast<uint32_t>((thread.random >> 32) * span >> 32);
  thread.progress.events += thread.until_timed;
}

// Excludes `ticks` of the handler from all intervals: they are overhead.
void SubtractOverhead(Thread& thread, int64_t ticks, int64_t Progress::*kind) {
  thread.last += ticks;
  thread.record->own_ticks += ticks;
  thread.progress.*kind += ticks;
}

}  // namespace

Elapsed TakeTime(Thread& thread, int64_t* now) {
  if (!WasDispatched(thread)) return {*now - thread.last, false};
  const auto result = thread.clock.Redispatch(thread.last);
  // A hypervisor may have stopped the processor in an earlier interval, which that one includes and
  // this one then lacks. No call gets less than nothing for that.
  thread.progress.off_cpu += result.now - thread.last - std::max<int64_t>(0, result.elapsed);
  *now = result.now;
  thread.page_seen = thread.clock.seen();
  thread.record->dispatches += result.dispatches;
  if (thread.cursor.top != nullptr) thread.cursor.top[-1].node->dispatches += result.dispatches;
  return {result.elapsed, true};
}

void DispatchedInside(Thread* thread, int64_t now) {
  thread->last = now;
  const int64_t ticks = TakeTime(*thread, &now).ticks;
  thread->record->own_ticks += ticks;
  thread->progress.timed_ticks += ticks;
  ++thread->progress.timed;
  thread->last = now;
}

void BeforeTimedEvent(Thread* thread) {
  DrawTimedEvent(*thread);
  thread->timed_alone = 0;
}

void AfterTimedEvent(Thread* thread, int64_t now, int64_t inside) {
  if (thread->timed_alone != 0) return;
  if (WasDispatched(*thread)) return DispatchedInside(thread, now);
  // Marks the record just written: the next interval is not comparable to the others.
  if (thread->training.next != nullptr) {
    thread->training.next[-1].handler = static_cast<uint16_t>(inside < 0xffff ? inside : 0xffff);
  }
  const EventTiming& timing = thread->session->timing();
  int64_t own = inside;
  if (inside <= timing.longest_update) own += (timing.period - 1) * inside - timing.timer_overhead;
  SubtractOverhead(*thread, own, &Progress::handler_ticks);
}

// The same share of the timer overhead that sampling leaves in every interval is left in this one.
void EndTimedEvent(Thread& thread, int64_t now) {
  const int64_t inside = ptm::TimedCodeEnd() - now;
  thread.timed_alone = 1;
  if (WasDispatched(thread)) return DispatchedInside(&thread, now);
  SubtractOverhead(thread, inside - thread.session->timing().residue, &Progress::timed_ticks);
  ++thread.progress.timed;
}

}  // namespace jprof::engine
