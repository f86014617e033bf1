// Implements the general version of an event: step by step, including the steps that the fast path
// can skip.
#include "jprof/engine/events.h"

#include <algorithm>
#include <iterator>

#include "jprof/engine/function_events.h"
#include "jprof/engine/labels/labels.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/samples.h"
#include "jprof/engine/session.h"
#include "jprof/engine/shadow_stack.h"
#include "jprof/engine/tree.h"
#include "jprof/engine/watched/watched_calls.h"

namespace jprof::engine {
namespace {

using profile::MethodOf;
using profile::Node;

// This is global, because the VM calls the probes with only a thread and a method. Each thread
// reads it once, at its first event; after that it uses Thread::session.
Session* session_of_events = nullptr;

// Returns the calling thread's state. Returns null if it has none: its event is lost.
Thread* AttachedThread(Session& session, int64_t* now) {
  if (current_thread != nullptr) return current_thread;
  Thread* const thread = session.threads().CurrentThread();
  if (thread == nullptr) {
    session.LostEvent();
  } else {
    *now = thread->last;  // its time begins here
  }
  return thread;
}

// Returns whether the thread is recorded, after requests of other threads.
template <class Recording>
bool IsRecorded(Thread& thread) {
  if ((AttentionOf(thread) & ~kRareWork) == 0) return true;
  if (!HandleAttention(thread)) {
    if (thread.record != nullptr) ++thread.record->dropped;
    return false;
  }
  internal::ReadCounters<Recording>(&thread);  // the fast path left before it could do this
  return true;
}

// Returns the state to record into, on the stack and tree of the mounted virtual thread, or of the
// carrier itself. Returns null if the event is not recorded (and has been counted).
template <class Recording>
Thread* ThreadForEvent(const Event& event, int64_t* now) {
  Session* const session = session_of_events;
  if (session == nullptr) return nullptr;  // the recording has ended: hooks remain
  Thread* const thread = AttachedThread(*session, now);
  if (thread == nullptr || !IsRecorded<Recording>(*thread)) return nullptr;
  if (event.continuation != thread->continuation)
    thread->session->timelines().Switch(*thread, event.continuation, event.vm_thread);
  return thread;
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
    // The fast path left before it counted this event, unless the dispatch was inside the handler.
    if (elapsed.dispatched) ++thread.progress.events;
  }
  internal::AttributeCounters<Recording>(&thread, node);
  return elapsed;
}

template <class Recording>
void EndSlow(Thread& thread, int64_t now, bool exact) {
  if constexpr (internal::kCounts<Recording>) {
    internal::ReadLate<Recording>(&thread, now);
  } else if constexpr (Recording::kClock) {
    if (exact) EndTimedEvent(thread, now);
  }
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
void TrainSlow(Thread& thread, const Elapsed& elapsed, profile::MethodRef from,
               profile::MethodRef to, EventKind event) {
  if constexpr (!Recording::kTrain) return;
  if (internal::TrainIsFull<Recording>(&thread)) NextTrainRecords(thread);
  const bool clean = !elapsed.dispatched && elapsed.ticks >= 0;
  if (Recording::kClock)
    internal::Train(&thread, clean ? elapsed.ticks : profile::kDirty, from, to, event);
  internal::TrainCounters<Recording>(&thread, from, to, event);
}

template <class Recording>
void TraceSlow(Thread& thread, profile::MethodRef ref, EventKind event, int64_t now) {
  if (MethodOf(ref) == kIgnoredMethod) return;
  const bool full = internal::TraceIsFull<Recording>(&thread);
  if (full && !thread.session->trace().Next(thread)) {
    ++thread.timeline.record->trace_dropped;
    return;  // `last` is unchanged: the next recorded event gets the whole time
  }
  now = std::max(now, thread.last);  // a signal handler's events may be in the trace already
  const Elapsed elapsed = TakeTime(thread, &now);
  internal::Trace(&thread, ref, event, elapsed.ticks);
  thread.last = now;
  EndTimedEvent(thread, now);
}

// Ends the frames that no longer exist at an entry. A frame of a function at the stack pointer of
// one with sleds has left by a jump to it.
void HealAtEntry(Thread& thread, const Event& event) {
  if (event.sp != kNoStack) Heal(thread, HasNumber(event.method) ? event.sp + 1 : event.sp);
}

// Returns the node of an entry, with space for its count. `created` is also true if counts of
// the node have moved.
Child NodeToEnter(Thread& thread, Node* parent, profile::MethodRef ref) {
  const auto [node, created] = FindOrAddChild(thread, parent, ref);
  if (MethodOf(node->ref) != profile::kOverflowMethod && node->ref != ref) {
    Retype(thread, node, ref, false);
    return {node, true};
  }
  const bool moved = MoveIfLarge(thread, node, node->entries[thread.cursor.previous]);
  return {node, created || moved};
}

// Returns the node of a site of the current method, or that of the method if the caller is another
// one: a method that is not recorded, or native code.
Node* AtSite(Thread& thread, Node* parent, uint64_t site) {
  if (site == 0 || thread.cursor.top[-1].method != site >> 16) return parent;
  const profile::MethodId id = SampledMethod(thread, *thread.session->sources().sites, site);
  return FindOrAddSite(thread, parent, profile::PackMethod(FrameKind::kSite, id));
}

// Returns the method reference of an exit.
profile::MethodRef RefOfExit(Thread& thread, const Event& event) {
  const CachedMethod* cached = FindCached(thread, event.method);
  if (cached == nullptr)
    cached = thread.session->method_cache().Resolve(thread, event.method, event.return_address);
  return cached->ref;
}

// Counts an exit without an entry. It is expected of a method that was running when the session
// began, if no later one is, and of one that was entered while the probes were being removed.
void CountUnmatched(Thread& thread) {
  const bool expected = thread.joined_late && thread.cursor.top[-1].method == 0;
  if (!expected && !thread.session->probes_end()) ++thread.timeline.record->unmatched;
}

}  // namespace

void SetSession(Session* session) { session_of_events = session; }

void DropEvent() {
  if (Thread* thread = current_thread; thread != nullptr && thread->record != nullptr)
    ++thread->record->dropped;
  else if (session_of_events != nullptr)
    session_of_events->LostEvent();
}

template <class Recording>
int EnterAtSite(const Event& event, uint64_t site) {
  const RareWork work;
  if (work.acquired())
    EnterSlow<Recording>(event, 0, site);
  else
    DropEvent();
  return 0;
}
template int EnterAtSite<SiteTree>(const Event&, uint64_t);

template <class Recording>
void EnterSlow(const Event& event, int64_t now, [[maybe_unused]] uint64_t site) {
  Thread* const current = ThreadForEvent<Recording>(event, &now);
  if (current == nullptr) return;
  Thread& thread = *current;
  const profile::MethodRef ref =
      thread.session->method_cache().Resolve(thread, event.method, event.return_address)->ref;
  if constexpr (Recording::kTrace) return TraceSlow<Recording>(thread, ref, EventKind::kEntry, now);
  if (MethodOf(ref) == kIgnoredMethod) return;

  const Elapsed elapsed = AttributeInterval<Recording>(thread, &now);
  HealAtEntry(thread, event);
  if (thread.cursor.top == thread.cursor.limit && !GrowFrames(thread)) {
    ++thread.timeline.record->dropped;
    return;
  }
  FoldIfDue(thread);
  Node* parent = thread.cursor.top[-1].node;
  if constexpr (Recording::kSites) parent = AtSite(thread, parent, site);
  const auto [node, created] = NodeToEnter(thread, parent, ref);
  TrainSlow<Recording>(thread, elapsed, parent->ref, node->ref, EventKind::kEntry);
  IncrementOrDrop(thread, node->entries[thread.cursor.previous]);
  const bool watched = internal::kTimesEvents<Recording> && BeginIfWatched(thread, ref, *node);
  *thread.cursor.top++ = {watched ? event.method | kWatchedBit : event.method,
                          event.sp != kNoStack ? event.sp : ~uint64_t{0}, node};
  thread.cursor.previous = static_cast<uint32_t>(EventKind::kEntry);
  EndSlow<Recording>(thread, now, created || elapsed.dispatched || watched);
}

template <class Recording>
void LeaveSlow(const Event& event, int64_t now) {
  Thread* const current = ThreadForEvent<Recording>(event, &now);
  if (current == nullptr) return;
  Thread& thread = *current;
  if constexpr (Recording::kTrace)
    return TraceSlow<Recording>(thread, RefOfExit(thread, event), EventKind::kExit, now);
  if (engine::MethodOf(thread.cursor.top[-1]) != event.method &&
      MethodOf(RefOfExit(thread, event)) == kIgnoredMethod)
    return;

  const Elapsed elapsed = AttributeInterval<Recording>(thread, &now);
  Frame* const frame = FrameOf(thread, event.method);
  if (frame == nullptr) {
    CountUnmatched(thread);
    return internal::ReadLate<Recording>(&thread, now);
  }
  EndFramesAbove(thread, frame);
  if (IsOpen(*frame)) {
    thread.cursor.top = frame;
    return internal::ReadLate<Recording>(&thread, now);
  }
  Node* const node = frame->node;
  uint32_t& count = node->exits[thread.cursor.previous];
  const bool watched = IsWatched(*frame);
  if (watched) EndWatchedCall(thread);
  const bool exact = MoveIfLarge(thread, node, count) || elapsed.dispatched || watched;
  TrainSlow<Recording>(thread, elapsed, node->ref, frame[-1].node->ref, EventKind::kExit);
  IncrementOrDrop(thread, count);
  thread.cursor.top = frame;
  thread.cursor.previous = static_cast<uint32_t>(EventKind::kExit);
  EndSlow<Recording>(thread, now, exact);
}

// A label has the stack pointer of the method that has set it, so it ends together with that frame.
template <class Recording>
void SetLabel(std::string_view text) {
  if constexpr (Recording::kTrace || Recording::kSites) return;
  const RareWork work;
  if (!work.acquired()) return DropEvent();
  int64_t now = Recording::kClock ? ptm::ReadTsc() : 0;
  const uint64_t continuation = current_thread != nullptr ? current_thread->continuation : 0;
  Thread* const current = ThreadForEvent<Recording>({0, kNoStack, 0, continuation, 0}, &now);
  if (current == nullptr) return;
  Thread& thread = *current;
  const Progress before = thread.progress;
  internal::ReadCounters<Recording>(&thread);
  AttributeInterval<Recording>(thread, &now);
  if (IsLabel(thread.cursor.top[-1])) --thread.cursor.top;
  if (text.data() != nullptr) PushLabel(thread, text);
  EndSlow<Recording>(thread, now, true);
  // It is no event of the calls that are being timed.
  thread.progress.events = before.events;
  thread.progress.timed = before.timed;
}

#define JPROF_INSTANTIATE(R)                                   \
  template void EnterSlow<R>(const Event&, int64_t, uint64_t); \
  template void LeaveSlow<R>(const Event&, int64_t);           \
  template void SetLabel<R>(std::string_view);
#define JPROF_INSTANTIATE_TRAINING(R) JPROF_INSTANTIATE(Training<R>)
JPROF_UNTRAINED_RECORDINGS(JPROF_INSTANTIATE)
JPROF_TRAINED_RECORDINGS(JPROF_INSTANTIATE)
JPROF_TRAINED_RECORDINGS(JPROF_INSTANTIATE_TRAINING)
#undef JPROF_INSTANTIATE_TRAINING
#undef JPROF_INSTANTIATE

}  // namespace jprof::engine
