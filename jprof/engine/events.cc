// Implements the general version of an event: step by step, including the steps that the fast path
// can skip.
#include "jprof/engine/events.h"

#include "jprof/engine/function_events.h"
#include "jprof/engine/gate/gated_events.h"
#include "jprof/engine/general/event_steps.h"
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

// Ends the frames that no longer exist at an entry.
void HealAtEntry(Thread& thread, const Event& event) {
  if (event.sp != kNoStack) Heal(thread, HealingPoint(event));
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
  if (site == 0 || engine::MethodOf(thread.cursor.top[-1]) != site >> 16) return parent;
  const profile::MethodId id = SampledMethod(thread, *thread.session->sources().sites, site);
  return FindOrAddSite(thread, parent, profile::PackMethod(FrameKind::kSite, id));
}

// Returns the method reference of an exit.
profile::MethodRef RefOfExit(Thread& thread, const Event& event) {
  const CachedMethod* cached = FindAnyCached(thread, event.method);
  if (cached == nullptr)
    cached = thread.session->method_cache().Resolve(thread, event.method, event.return_address);
  return cached->ref;
}

// Counts an exit without an entry. It is expected of a method that was running when the session
// began, or was paused, if no later one is, and of one that was entered while the probes were being
// removed.
void CountUnmatched(Thread& thread) {
  const bool joined = thread.joined_late || thread.session->gate().was_paused();
  const bool expected = joined && thread.cursor.top[-1].method == 0;
  if (!expected && !thread.session->probes_end()) ++thread.timeline.record->unmatched;
}

}  // namespace

template <class Recording>
int EnterAtSite(const Event& event, uint64_t site) {
  if (IsOff<JavaFrames, EventKind::kEntry>(event)) return 0;
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
  const Current current = ThreadForEvent<Recording>(event, &now);
  if (current.thread == nullptr) return;
  Thread& thread = *current.thread;
  const profile::MethodRef ref =
      thread.session->method_cache().Resolve(thread, event.method, event.return_address)->ref;
  AtGate gate = AtGate::kInside;
  if (thread.session->gate().has_methods())
    gate = GateOfEntry(thread, event, ref, !Recording::kTrace, &now);
  if (gate == AtGate::kOutside) return;
  if constexpr (Recording::kTrace) {
    if (gate == AtGate::kBegins && !BeginGateOfTrace(thread, event)) return;
    return TraceSlow<Recording>(thread, ref, EventKind::kEntry, event.sp, now);
  }
  if (MethodOf(ref) == kIgnoredMethod) return EndIgnored<Recording>(current, now);

  Elapsed elapsed = {0, current.switched};
  if (gate != AtGate::kBegins) elapsed = AttributeInterval<Recording>(current, &now);
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
  [[maybe_unused]] uint32_t* const counted = &node->entries[thread.cursor.previous];
  IncrementOrDrop(thread, *counted);
  const bool watched = internal::kTimesEvents<Recording> && BeginIfWatched(thread, ref, *node);
  const bool begins = gate == AtGate::kBegins;
  const bool alone = watched || thread.session->gate().IsGate(MethodOf(ref));
  *thread.cursor.top++ = {event.method | (watched ? kWatchedBit : 0) | (begins ? kGateBit : 0),
                          event.sp != kNoStack ? event.sp : ~uint64_t{0}, node};
  if (begins) BeginGate(thread);
  thread.cursor.previous = static_cast<uint32_t>(EventKind::kEntry);
  if constexpr (Recording::kSparse) TimeAfterRareEvent(thread, counted);
  EndSlow<Recording>(thread, now, created || elapsed.dispatched || alone);
}

template <class Recording>
void LeaveSlow(const Event& event, int64_t now) {
  const Current current = ThreadForEvent<Recording>(event, &now);
  if (current.thread == nullptr) return;
  Thread& thread = *current.thread;
  const bool gated = thread.session->gate().has_methods();
  if (gated && !RecordsExit(thread, event)) return;
  if constexpr (Recording::kTrace) {
    TraceSlow<Recording>(thread, RefOfExit(thread, event), EventKind::kExit, event.sp, now);
    if (gated) EndGateOfTrace(thread, event);
    return;
  }
  if (engine::MethodOf(thread.cursor.top[-1]) != event.method &&
      MethodOf(RefOfExit(thread, event)) == kIgnoredMethod)
    return EndIgnored<Recording>(current, now);

  const Elapsed elapsed = AttributeInterval<Recording>(current, &now);
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
  const bool ends_gate = IsGate(*frame);
  const bool exact = MoveIfLarge(thread, node, count) || elapsed.dispatched || watched || ends_gate;
  TrainSlow<Recording>(thread, elapsed, node->ref, frame[-1].node->ref, EventKind::kExit);
  IncrementOrDrop(thread, count);
  thread.cursor.top = frame;
  thread.cursor.previous = static_cast<uint32_t>(EventKind::kExit);
  if (ends_gate) EndGate(thread);
  if constexpr (Recording::kSparse) TimeAfterRareEvent(thread, &count);
  EndSlow<Recording>(thread, now, exact);
}

#define JPROF_INSTANTIATE(R)                                   \
  template void EnterSlow<R>(const Event&, int64_t, uint64_t); \
  template void LeaveSlow<R>(const Event&, int64_t);
#define JPROF_INSTANTIATE_TRAINING(R) JPROF_INSTANTIATE(Training<R>)
JPROF_UNTRAINED_RECORDINGS(JPROF_INSTANTIATE)
JPROF_TRAINED_RECORDINGS(JPROF_INSTANTIATE)
JPROF_TRAINED_RECORDINGS(JPROF_INSTANTIATE_TRAINING)
#undef JPROF_INSTANTIATE_TRAINING
#undef JPROF_INSTANTIATE

}  // namespace jprof::engine
