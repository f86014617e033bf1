#include "jprof/engine/sparse/intervals.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "jprof/engine/session.h"
#include "ptm/tsc.h"

namespace jprof::engine {
namespace {

// So many short intervals end that all of a context are timed: at least, and after a window found a
// long one. An event that was measured makes a long interval look short.
constexpr int64_t kLeastShort = 16, kShortAfterFound = 64;
constexpr uint32_t kIntervalsPerReport = 1024;  // those of a killed program that are not reported

bool WasDispatchedSince(const Thread& thread) {
  return __atomic_load_n(thread.page_lock, __ATOMIC_RELAXED) != thread.page_seen;
}

// Returns the probability with which an event opens a window, so that one interval in `every` is in
// one: if one of the kWindow events before that which begins it opens one. It calls no function of
// libm, because threads begin in probes.
double OpeningShare(uint32_t every) {
  const double outside = 1 - 1.0 / every;
  double low = 0, high = 1;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    double none_opens = 1;
    for (uint32_t k = 0; k < kWindow; ++k) none_opens *= 1 - middle;
    (none_opens > outside ? low : high) = middle;
  }
  return low;
}

// Returns the nearest context that contains both.
uint32_t CommonContext(const Thread& thread, uint32_t a, uint32_t b) {
  while (a != b) (a > b ? a : b) = thread.nodes[std::max(a, b)].parent;
  return a;
}

// Gives a context the time of a long interval that was not timed.
void AddMissed(Thread& thread, int64_t ticks) {
  Intervals& intervals = thread.intervals;
  const auto here = static_cast<uint32_t>(thread.cursor.top[-1].node - thread.nodes);
  const uint32_t common = CommonContext(thread, intervals.ended_at, here);
  // Virtual threads have trees of their own: a context of another one is no ancestor.
  thread.nodes[common != 0 ? common : here].self += ticks;
  intervals.untimed_ticks += static_cast<uint64_t>(ticks);
}

// Makes the intervals of a context be timed until so many are short.
void TimeContext(Intervals& intervals, uint32_t tag, int64_t short_until) {
  const size_t place = PlaceOfTag(tag);
  const int64_t before = IsLong(intervals, tag) ? intervals.short_until[place] : 0;
  intervals.long_context[place] = tag;
  intervals.short_until[place] =
      static_cast<uint8_t>(std::clamp<int64_t>(short_until, before, 255));
}

// Follows the events since windows found long intervals.
void FollowFound(Intervals& intervals) {
  auto& found = intervals.found_long;
  const uint32_t due = found[kWindow - 1];
  std::shift_right(std::begin(found), std::end(found), 1);
  found[0] = 0;
  if (due != 0) TimeContext(intervals, due, kShortAfterFound);
}

// Returns whether the interval that an event has begun is in a window. Follows the windows and what
// they have found, so it is called once for each event.
bool IsInWindow(Thread& thread, const uint32_t* count) {
  uint32_t& window = thread.intervals.window;
  const bool is_in = window > 0;
  window -= is_in;
  if (OpensWindow(count, thread.intervals.threshold)) window = kWindow;
  FollowFound(thread.intervals);
  return is_in;
}

bool HasFound(const Intervals& intervals) {
  return std::ranges::any_of(intervals.found_long, std::identity());
}

// Notes whether a timed interval of a context was long. Virtual threads end intervals of recordings
// that time all of them, too.
void NoteLength(Thread& thread, const profile::Node* node, int64_t ticks) {
  Intervals& intervals = thread.intervals;
  if (intervals.every <= 1) return;
  const uint32_t tag = ContextTag(node);
  if (ticks > intervals.long_ticks) {
    if (thread.interval == Interval::kTimedForMany) {
      intervals.found_long[0] = tag;
    } else {
      TimeContext(intervals, tag, std::max(4 * ticks / intervals.long_ticks, kLeastShort));
    }
  } else if (thread.interval == Interval::kTimedForItself && IsLong(intervals, tag)) {
    const size_t place = PlaceOfTag(tag);
    if (intervals.short_until[place]-- <= 1) intervals.long_context[place] = 0;
  }
}

// Returns what an interval adds to its context.
int64_t Weighted(Thread& thread, int64_t ticks) {
  Intervals& intervals = thread.intervals;
  if (thread.interval == Interval::kTimedForItself || ticks > intervals.longest) return ticks;
  ++intervals.sampled;
  intervals.sampled_ticks += static_cast<double>(ticks);
  intervals.sampled_squares += static_cast<double>(ticks) * static_cast<double>(ticks);
  return ticks * intervals.every;
}

}  // namespace

void SetIntervals(Thread& thread) {
  const uint32_t every = thread.session->options().time_every;
  thread.intervals = {};
  if (every <= 1) return;
  const double per_ns = thread.session->clock().ticks_per_second / 1e9;
  thread.intervals = {.threshold = static_cast<uint32_t>(4294967296.0 * OpeningShare(every)),
                      .every = every,
                      .long_ticks = static_cast<int64_t>(per_ns * profile::kLongNs),
                      .longest = static_cast<int64_t>(per_ns * 8000 * every)};
}

void EndInterval(Thread& thread, profile::Node* node, int64_t now) {
  const int64_t ticks = now - thread.last;
  thread.last = now;
  EndAnyInterval(thread, node, ticks);
  if (thread.intervals.timed >= kIntervalsPerReport) AddIntervals(thread);
}

void EndAnyInterval(Thread& thread, profile::Node* node, int64_t ticks) {
  if (thread.interval == Interval::kUntimed || thread.interval == Interval::kOpensWindow) {
    if (ticks > thread.intervals.longest) AddMissed(thread, ticks);
  } else {
    NoteLength(thread, node, ticks);
    node->self += Weighted(thread, ticks);
    ++thread.intervals.timed;
  }
  thread.intervals.ended_at = static_cast<uint32_t>(node - thread.nodes);
}

void BeginTiming(Thread& thread, const uint32_t* count) {
  Intervals& intervals = thread.intervals;
  if (OpensWindow(count, intervals.threshold)) intervals.window = kWindow;
  thread.interval = Interval::kOpensWindow;
  if (!StandsForItself(thread, count)) return;
  const int64_t now = ptm::TimedCodeEnd();
  if (WasDispatchedSince(thread)) return;  // the next event finds out
  if (now - thread.last > intervals.longest) AddMissed(thread, now - thread.last);
  thread.last = now;
  thread.interval = Interval::kTimedForItself;
}

void ContinueTiming(Thread& thread, const uint32_t* count) {
  const bool covered = IsInWindow(thread, count);
  if (StandsForItself(thread, count)) {
    thread.interval = Interval::kTimedForItself;
  } else if (covered) {
    thread.interval = Interval::kTimedForMany;
  } else {
    const bool reads = thread.intervals.window > 0 || HasFound(thread.intervals);
    thread.interval = reads ? Interval::kOpensWindow : Interval::kUntimed;
  }
}

void TimeAfterRareEvent(Thread& thread, const uint32_t* count) {
  IsInWindow(thread, count);
  thread.interval = Interval::kTimedForItself;
}

void AddIntervals(Thread& thread) {
  Intervals& intervals = thread.intervals;
  if (intervals.every <= 1 || thread.session == nullptr) return;
  profile::ControlHeader& header = *thread.session->writer().header();
  const auto add = [](uint64_t& total, uint64_t more) {
    __atomic_fetch_add(&total, more, __ATOMIC_RELAXED);
  };
  add(header.timed_intervals, std::exchange(intervals.timed, 0));
  add(header.sampled_intervals, std::exchange(intervals.sampled, 0));
  add(header.sampled_ticks,
      static_cast<uint64_t>(std::max(0.0, std::exchange(intervals.sampled_ticks, 0.0))));
  add(header.sampled_squares, static_cast<uint64_t>(std::exchange(intervals.sampled_squares, 0.0)));
  add(header.untimed_ticks, std::exchange(intervals.untimed_ticks, 0));
}

}  // namespace jprof::engine
