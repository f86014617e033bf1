// Implements the general version of an event: step by step, including the steps that the fast path
// can skip.
#include "jprof/engine/events.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "jprof/engine/session.h"
#include "jprof/engine/shadow_stack.h"
#include "jprof/engine/tree.h"

namespace jprof::engine {
namespace {

using profile::MethodOf;
using profile::Node;

// A frame may be this far above its recorded stack pointer and still exist: on-stack replacement
// replaces an interpreted frame by a smaller compiled one.
constexpr uint64_t kReplacementSlack = 4096;

// Returns the state to record into, or null if the event is not recorded (and has been counted).
template <class Recording>
Thread* ThreadForEvent(Session* session, int64_t* now) {
  Thread* thread = current_thread;
  if (thread == nullptr) {
    thread = session->threads().CurrentThread();
    if (thread == nullptr) {
      session->LostEvent();
      return nullptr;
    }
    *now = thread->last;  // its time begins here
  }
  if ((AttentionOf(*thread) & ~kRareWork) == 0) return thread;
  if (!HandleAttention(*thread)) {
    if (thread->record != nullptr) ++thread->record->dropped;
    return nullptr;
  }
  internal::ReadCounters<Recording>(thread);  // the fast path left before it could do this
  return thread;
}

// Contains the on-CPU time since the last event. After a dispatch the kernel is queried, which also
// advances `now`.
struct Elapsed {
  int64_t ticks;
  bool dispatched;
};
Elapsed TakeTime(Thread& thread, int64_t* now) {
  if (__atomic_load_n(thread.page_lock, __ATOMIC_RELAXED) == thread.page_seen) {
    return {*now - thread.last, false};
  }
  const auto result = thread.clock.Redispatch(thread.last);
  *now = result.now;
  thread.page_seen = thread.clock.seen();
  thread.record->dispatches += result.dispatches;
  if (thread.cursor.top != nullptr) thread.cursor.top[-1].node->dispatches += result.dispatches;
  return {result.elapsed, true};
}

// Attributes the time and dispatches since the last event to the current node.
template <class Recording>
Elapsed AttributeInterval(Thread& thread, int64_t* now) {
  Elapsed elapsed = {0, false};
  Node* const node = thread.cursor.top[-1].node;
  if constexpr (Recording::kClock) {
    elapsed = TakeTime(thread, now);
    node->self += elapsed.ticks;
    thread.last = *now;
  }
  internal::AttributeCounters<Recording>(&thread, node);
  return elapsed;
}

// Draws the next event to be timed.
void DrawTimedEvent(Thread& thread) {
  thread.random ^= thread.random << 13;
  thread.random ^= thread.random >> 7;
  thread.random ^= thread.random << 17;
  // The draw is uniform in [1, 2 * period - 1], so that its mean is the period.
  const uint64_t span = uint64_t{2} * thread.session->timing().period - 1;
  thread.until_timed = 1 + static_cast<uint32_t>((thread.random >> 32) * span >> 32);
}

// Excludes `ticks` of the handler from all intervals: they are overhead.
void SubtractOverhead(Thread& thread, int64_t ticks) {
  thread.last += ticks;
  thread.record->own_ticks += ticks;
}

// Ends an event with unusual work by timing it, where `now` is its early read: its duration is
// overhead, and does not represent other events. The same share of the timer overhead that sampling
// leaves in every interval is left in this one.
void EndTimedEvent(Thread& thread, int64_t now) {
  const int64_t inside = ptm::TimedCodeEnd() - now;
  thread.timed_alone = 1;
  if (__atomic_load_n(thread.page_lock, __ATOMIC_RELAXED) != thread.page_seen) {
    return DispatchedInside(&thread, now);
  }
  SubtractOverhead(thread, inside - thread.session->timing().residue);
}

template <class Recording>
void EndSlow(Thread& thread, int64_t now, bool exact) {
  if constexpr (internal::kCounts<Recording>) {
    internal::ReadLate<Recording>(&thread, now);
  } else if constexpr (Recording::kClock) {
    if (exact) EndTimedEvent(thread, now);
  }
}

bool IsFunction(const Frame& frame) { return (frame.method & kFunctionBit) != 0; }

// Returns whether a frame no longer exists at a stack pointer. A function's frame never moves. The
// thread row (method 0) is never gone.
bool IsGone(const Frame& frame, uint64_t sp) {
  if (IsFunction(frame)) return frame.sp < sp;
  return frame.method != 0 && frame.sp <= sp - kReplacementSlack;
}

bool IsOpen(const Frame& frame) { return (frame.method & kOpenBit) != 0; }

// Counts an entry or exit. A count is at its largest where Retype found no space for another node.
void Count(Thread& thread, uint32_t& count) {
  if (count == std::numeric_limits<uint32_t>::max()) {
    ++thread.timeline.record->dropped;
  } else {
    ++count;
  }
}

// Moves the counts of a node to another one if `count`, one of them, gets too large. Returns
// whether it did.
bool MoveIfLarge(Thread& thread, Node* node, uint32_t count) {
  if (static_cast<int32_t>(count) >= 0) return false;
  Retype(thread, node, node->word, true);
  return true;
}

// Counts the end of a frame whose exit was not seen.
void EndFrame(Thread& thread, const Frame& frame) {
  if (IsOpen(frame)) return;
  uint32_t& count = frame.node->exits[thread.cursor.previous];
  MoveIfLarge(thread, frame.node, count);
  Count(thread, count);
  thread.cursor.previous = static_cast<uint32_t>(EventKind::kExit);
  ++thread.timeline.record->healed;
}

// Ends the innermost frames for which gone(frame) is true, as if by an exception.
template <class Gone>
void EndFrames(Thread& thread, Gone gone) {
  Frame* top = thread.cursor.top;
  while (gone(top[-1])) EndFrame(thread, *--top);
  thread.cursor.top = top;
}

// Ends the frames that no longer exist according to the stack pointer.
void Heal(Thread& thread, uint64_t sp) {
  if (sp == kNoStack) return;
  EndFrames(thread, [sp](const Frame& frame) { return IsGone(frame, sp); });
  Frame* const top = thread.cursor.top;
  if (!IsFunction(top[-1]) && top[-1].sp <= sp)
    top[-1].sp = sp + 16;  // replaced by a smaller frame: exists at least up to here
}

// Gives the thread space for more records, which are lost if the profile has none.
void NextTrainRecords(Thread& thread) {
  constexpr uint32_t kRun = 1 << 14;
  if (profile::TrainRecord* records = thread.session->writer().AllocateTrain(kRun)) {
    thread.training = {records, records + kRun};
  } else {
    thread.training = {std::begin(thread.train_sink), std::end(thread.train_sink)};
  }
}

template <class Recording>
void TrainSlow(Thread& thread, int64_t delta, bool clean, uint32_t from, uint32_t to,
               EventKind event) {
  if constexpr (!Recording::kTrain) return;
  if (internal::TrainIsFull<Recording>(&thread)) NextTrainRecords(thread);
  if (Recording::kClock)
    internal::Train(&thread, clean && delta >= 0 ? delta : profile::kDirty, from, to, event);
  internal::TrainCounters<Recording>(&thread, from, to, event);
}

template <class Recording>
void TraceSlow(Thread& thread, uint32_t word, EventKind event, int64_t* now) {
  if (MethodOf(word) == kIgnoredMethod) return;
  const bool full = internal::TraceIsFull<Recording>(&thread);
  if (full && !thread.session->trace().Next(thread)) {
    ++thread.timeline.record->trace_dropped;
    return;  // `last` is unchanged: the next recorded event gets the whole time
  }
  *now = std::max(*now, thread.last);  // a signal handler's events may be in the trace already
  const Elapsed elapsed = TakeTime(thread, now);
  internal::Trace(&thread, word, event, elapsed.ticks);
  thread.last = *now;
  EndTimedEvent(thread, *now);
}

// This is global, because the VM calls the probes with only a thread and a method. Each thread
// reads it once, at its first event; after that it uses Thread::session.
Session* session_of_events = nullptr;

// Switches to the stack and tree of the mounted virtual thread, or of the carrier itself.
void SwitchToMounted(Thread& thread, const Event& event) {
  if (event.continuation == thread.continuation) return;
  thread.session->timelines().Switch(thread, event.continuation, event.vm_thread);
}

}  // namespace

void SetSession(Session* session) { session_of_events = session; }

void DropEvent() {
  if (Thread* thread = current_thread; thread != nullptr && thread->record != nullptr)
    ++thread->record->dropped;
  else if (session_of_events != nullptr)
    session_of_events->LostEvent();
}

void HealFunctions(uint64_t sp) {
  Thread* const thread = current_thread;
  if (thread == nullptr || thread->cursor.top == nullptr || AttentionOf(*thread) != 0) return;
  const RareWork work;
  if (!work.acquired()) return;
  EndFrames(*thread, [sp](const Frame& frame) { return IsFunction(frame) && IsGone(frame, sp); });
}

template <class Recording>
void EnterSlow(const Event& event, int64_t now) {
  if (session_of_events == nullptr) return;  // the recording has ended: hooks remain
  Thread* const current = ThreadForEvent<Recording>(session_of_events, &now);
  if (current == nullptr) return;
  SwitchToMounted(*current, event);
  Thread& thread = *current;
  Session& session = *thread.session;
  const CachedMethod* cached =
      session.method_cache().Resolve(thread, event.method, event.return_address);
  const uint32_t word = cached->word;
  if constexpr (Recording::kTrace) {
    return TraceSlow<Recording>(thread, word, EventKind::kEntry, &now);
  }
  if (MethodOf(word) == kIgnoredMethod) return;

  const Elapsed elapsed = AttributeInterval<Recording>(thread, &now);
  // A frame of a function at the stack pointer of one with sleds has left by a jump to it.
  Heal(thread, event.sp != kNoStack && HasNumber(event.method) ? event.sp + 1 : event.sp);
  if (thread.cursor.top == thread.cursor.limit && !GrowFrames(thread)) {
    ++thread.timeline.record->dropped;
    return;
  }
  FoldIfDue(thread);
  Node* const parent = thread.cursor.top[-1].node;
  const auto [node, created] = FindOrAddChild(thread, parent, word);
  const bool overflow = MethodOf(node->word) == profile::kOverflowMethod;
  uint32_t& count = node->entries[thread.cursor.previous];
  bool exact = created || elapsed.dispatched;
  if (!overflow && node->word != word) {
    Retype(thread, node, word, false);
    exact = true;
  } else if (MoveIfLarge(thread, node, count)) {
    exact = true;
  }
  TrainSlow<Recording>(thread, elapsed.ticks, !elapsed.dispatched, parent->word, node->word,
                       EventKind::kEntry);
  Count(thread, count);
  *thread.cursor.top++ = {event.method, event.sp != kNoStack ? event.sp : ~uint64_t{0}, node};
  thread.cursor.previous = static_cast<uint32_t>(EventKind::kEntry);
  EndSlow<Recording>(thread, now, exact);
}

template <class Recording>
void LeaveSlow(const Event& event, int64_t now) {
  if (session_of_events == nullptr) return;  // the recording has ended: hooks remain
  Thread* const current = ThreadForEvent<Recording>(session_of_events, &now);
  if (current == nullptr) return;
  SwitchToMounted(*current, event);
  Thread& thread = *current;
  Session& session = *thread.session;
  if constexpr (Recording::kTrace) {
    const CachedMethod* cached = FindCached(thread, event.method);
    if (cached == nullptr)
      cached = session.method_cache().Resolve(thread, event.method, event.return_address);
    return TraceSlow<Recording>(thread, cached->word, EventKind::kExit, &now);
  }
  Frame* frame = thread.cursor.top - 1;
  if (frame->method != event.method) {
    const CachedMethod* cached = FindCached(thread, event.method);
    if (cached == nullptr)
      cached = session.method_cache().Resolve(thread, event.method, event.return_address);
    if (MethodOf(cached->word) == kIgnoredMethod) return;
  }

  const Elapsed elapsed = AttributeInterval<Recording>(thread, &now);
  // The returning frame is the nearest one of this method; frames above it are gone. If there is
  // none, the event is ignored.
  Frame* match = frame;
  while ((match->method & ~kOpenBit) != event.method && match->method != 0) --match;
  if (match->method == 0) {
    // A method that was running when the session began, if no later one is, or one that was entered
    // while the probes were being removed.
    const bool expected = thread.joined_late && frame->method == 0;
    if (!expected && !session.probes_end()) ++thread.timeline.record->unmatched;
    return internal::ReadLate<Recording>(&thread, now);
  }
  for (; frame != match; --frame) EndFrame(thread, *frame);
  if (IsOpen(*match)) {
    thread.cursor.top = match;
    return internal::ReadLate<Recording>(&thread, now);
  }
  Node* const node = match->node;
  uint32_t& count = node->exits[thread.cursor.previous];
  const bool exact = MoveIfLarge(thread, node, count) || elapsed.dispatched;
  TrainSlow<Recording>(thread, elapsed.ticks, !elapsed.dispatched, node->word, match[-1].node->word,
                       EventKind::kExit);
  Count(thread, count);
  thread.cursor.top = match;
  thread.cursor.previous = static_cast<uint32_t>(EventKind::kExit);
  EndSlow<Recording>(thread, now, exact);
}

void DispatchedInside(Thread* thread, int64_t now) {
  thread->last = now;
  thread->record->own_ticks += TakeTime(*thread, &now).ticks;
  thread->last = now;
}

void BeforeTimedEvent(Thread* thread) {
  DrawTimedEvent(*thread);
  thread->timed_alone = 0;
}

void AfterTimedEvent(Thread* thread, int64_t now, int64_t inside) {
  if (thread->timed_alone != 0) return;
  if (__atomic_load_n(thread->page_lock, __ATOMIC_RELAXED) != thread->page_seen) {
    return DispatchedInside(thread, now);
  }
  // Marks the record just written: the next interval is not comparable to the others.
  if (thread->training.next != nullptr) {
    thread->training.next[-1].handler = static_cast<uint16_t>(inside < 0xffff ? inside : 0xffff);
  }
  const EventTiming& timing = thread->session->timing();
  int64_t own = inside;
  if (inside <= timing.longest_update) own += (timing.period - 1) * inside - timing.timer_overhead;
  SubtractOverhead(*thread, own);
}

#define JPROF_INSTANTIATE(R)                         \
  template void EnterSlow<R>(const Event&, int64_t); \
  template void LeaveSlow<R>(const Event&, int64_t);
#define JPROF_INSTANTIATE_TRAINING(R) JPROF_INSTANTIATE(Training<R>)
JPROF_UNTRAINED_RECORDINGS(JPROF_INSTANTIATE)
JPROF_TRAINED_RECORDINGS(JPROF_INSTANTIATE)
JPROF_TRAINED_RECORDINGS(JPROF_INSTANTIATE_TRAINING)
#undef JPROF_INSTANTIATE_TRAINING
#undef JPROF_INSTANTIATE

}  // namespace jprof::engine
