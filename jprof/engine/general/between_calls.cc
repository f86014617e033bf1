// Sets labels and counts marks, which happen between the events of the calling thread.
#include "jprof/engine/general/event_steps.h"
#include "jprof/engine/labels/labels.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/session.h"

namespace jprof::engine {
namespace {

// Calls change(thread, now) on the calling thread, if it records: what this takes is in no interval
// of a tree, and is no event of the calls that are being timed. The thread's timeline is that of
// its virtual thread already: a native method has called this, and native methods send their events
// also out of focus (tests/cli/labels.py, FocusedProbes).
template <class Recording, class Change>
void BetweenCalls(const Change& change) {
  const RareWork work;
  if (!work.acquired()) return DropEvent();
  int64_t now = Recording::kClock ? ptm::ReadTsc() : 0;
  const uint64_t continuation = current_thread != nullptr ? current_thread->continuation : 0;
  const Current current = ThreadForEvent<Recording>({0, kNoStack, 0, continuation, 0}, &now);
  if (current.thread == nullptr) return;
  Thread& thread = *current.thread;
  if (thread.timeline.outside) return;
  if constexpr (Recording::kTrace) return change(thread, now);
  const Progress before = thread.progress;
  internal::ReadCounters<Recording>(&thread);
  AttributeInterval<Recording>(current, &now);
  change(thread, now);
  EndSlow<Recording>(thread, now, true);
  thread.progress.events = before.events;
  thread.progress.timed = before.timed;
}

}  // namespace

// A label has the stack pointer of the method that has set it, so it ends together with that frame.
template <class Recording>
void SetLabel(std::string_view text) {
  if constexpr (Recording::kTrace || Recording::kSites) return;
  BetweenCalls<Recording>([text](Thread& thread, int64_t) {
    if (IsLabel(thread.cursor.top[-1])) --thread.cursor.top;
    if (text.data() != nullptr) PushLabel(thread, text);
  });
}

template <class Recording>
void Mark(std::string_view text) {
  if constexpr (Recording::kSites) return;
  BetweenCalls<Recording>([text](Thread& thread, int64_t now) {
    if constexpr (!Recording::kTrace) return CountMark(thread, text);
    const profile::MethodRef mark = FindMark(*thread.session, text);
    TraceSlow<Recording>(thread, mark, EventKind::kEntry, kNoStack, now);
    TraceSlow<Recording>(thread, mark, EventKind::kExit, kNoStack, thread.last);
  });
}

#define JPROF_INSTANTIATE(R)                   \
  template void SetLabel<R>(std::string_view); \
  template void Mark<R>(std::string_view);
#define JPROF_INSTANTIATE_TRAINING(R) JPROF_INSTANTIATE(Training<R>)
JPROF_UNTRAINED_RECORDINGS(JPROF_INSTANTIATE)
JPROF_TRAINED_RECORDINGS(JPROF_INSTANTIATE)
JPROF_TRAINED_RECORDINGS(JPROF_INSTANTIATE_TRAINING)
#undef JPROF_INSTANTIATE_TRAINING
#undef JPROF_INSTANTIATE

}  // namespace jprof::engine
