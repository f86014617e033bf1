#include "jprof/engine/timelines.h"

#include <cstring>
#include <utility>

#include "common/uninterrupted_lock.h"
#include "jprof/engine/gate/gated_events.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/session.h"
#include "jprof/engine/slow/slow_calls.h"
#include "jprof/engine/sparse/intervals.h"
#include "jprof/engine/thread_memory.h"
#include "jprof/engine/thread_registry.h"
#include "jprof/engine/tree.h"
#include "jprof/engine/watched/watched_calls.h"

namespace jprof::engine {
namespace {

constexpr uint64_t kNoHealing = ~uint64_t{0};  // the stack pointer of a frame that is never healed

void Push(Timeline*& list, Timeline& timeline) { timeline.next = std::exchange(list, &timeline); }

// Returns null if the list is empty.
Timeline* Pop(Timeline*& list) {
  return list != nullptr ? std::exchange(list, list->next) : nullptr;
}

void FreeAll(Timeline*& list) {
  while (Timeline* const timeline = Pop(list)) FreeTimeline(*timeline);
}

// Attributes the time up to now to the current node.
void AttributeTime(Thread& thread) {
  if (__atomic_load_n(thread.page_lock, __ATOMIC_RELAXED) != thread.page_seen) return;
  const int64_t now = ptm::ReadTsc();
  EndAnyInterval(thread, thread.cursor.top[-1].node, now - thread.last);
  thread.last = now;
}

}  // namespace

// A handler with hooks may interrupt any thread, also one of a session without functions.
class Timelines::Guard : UninterruptedLock<SpinLock> {
 public:
  explicit Guard(Timelines& timelines)
      : UninterruptedLock(timelines.lock_, ThreadRegistry::events_in_handlers()) {}
};

bool Timelines::Open(Timeline& timeline, uint32_t flags) {
  if (timeline.record == nullptr) timeline.record = writer_.AllocateThread();
  if (timeline.record == nullptr) return false;
  const uint32_t root = MakeRoot(writer_, timeline);
  if (root == 0) {
    timeline.record->flags = profile::kThreadDisarmed;
    return false;
  }
  *timeline.cursor.top++ = {0, kNoHealing, writer_.nodes() + root};
  timeline.outside = static_cast<bool>(options_.gates);
  timeline.record->root = root;
  timeline.record->flags = flags;
  timeline.record->start_ticks = ptm::ReadTsc();
  timeline.record->state = profile::kThreadLive;
  return true;
}

bool Timelines::OpenRow(const char* name, uint32_t flags, Timeline& timeline) {
  const RareWork work;
  Frame bottom;
  timeline.frames = timeline.cursor.top = &bottom;
  const bool opened = Open(timeline, flags);
  timeline.frames = timeline.cursor.top = nullptr;
  if (opened) std::strncpy(timeline.record->name, name, sizeof timeline.record->name - 1);
  return opened;
}

void Timelines::Switch(Thread& thread, uint64_t continuation, uint64_t vm_thread) {
  SwitchTo(thread, continuation, continuation != 0 ? sources_.vm->VirtualThreadId(vm_thread) : 0);
}

void Timelines::SwitchToVirtualThread(Thread& thread, uint64_t identity) {
  if ((AttentionOf(thread) & (kOutside | kPaused)) != 0)
    DropInterval(thread);
  else if (options_.clock)
    AttributeTime(thread);
  SwitchTo(thread, identity, identity);
}

// While the session is paused a virtual thread may end unseen: its timeline must not wait for it.
void Timelines::SwitchTo(Thread& thread, uint64_t continuation, uint64_t identity) {
  if (thread.session->gate().paused()) ForgetCalls(thread);
  PauseProgress(thread);
  thread.SaveCursor();
  Unmount(thread);
  thread.continuation = continuation;
  if (continuation != 0)
    Mount(thread, identity);
  else
    thread.MakeCurrent(thread.carrier);
  ResumeProgress(thread);
}

void Timelines::Unmount(Thread& thread) {
  if (thread.continuation == 0) {
    thread.carrier = thread.timeline;
    return;
  }
  *thread.mounted = thread.timeline;
  Park(*thread.mounted, thread.virtual_thread);
  thread.mounted = nullptr;
}

// Without memory the virtual thread's events go to the carrier and are healed there.
void Timelines::Mount(Thread& thread, uint64_t identity) {
  thread.virtual_thread = identity;
  Timeline* const timeline = Take(identity);
  if (timeline == nullptr) {
    thread.continuation = 0;
    return thread.MakeCurrent(thread.carrier);
  }
  // The frames may have another position on this stack than before unmounting.
  for (Frame* frame = timeline->frames; frame != timeline->cursor.top; ++frame)
    frame->sp = kNoHealing;
  ForgetStackPointers(*timeline);
  thread.mounted = timeline;
  thread.MakeCurrent(*timeline);
}

// Returns null if there is no memory or no space in the profile.
Timeline* Timelines::Take(uint64_t virtual_thread) {
  if (Timeline* const open = TakeOpen(virtual_thread)) return open;
  Timeline* timeline = TakeUnopened();
  if (timeline == nullptr) timeline = MakeTimeline(sources_.has_functions());
  if (timeline == nullptr) return nullptr;
  if (Open(*timeline, profile::kThreadVirtual)) {
    std::strcpy(timeline->record->name, "virtual threads");
    return timeline;
  }
  const Guard guard(*this);
  Push(unopened_, *timeline);
  return nullptr;
}

// Returns the timeline of the virtual thread or, if it has none, of one that ended. Returns null if
// there is none.
Timeline* Timelines::TakeOpen(uint64_t virtual_thread) {
  const Guard guard(*this);
  Timeline** link = &parked_[virtual_thread % kParkedBuckets];
  for (; *link != nullptr; link = &(*link)->next) {
    if ((*link)->virtual_thread == virtual_thread) return Pop(*link);
  }
  return Pop(free_);
}

// Returns a timeline that could not be opened before, which may already have a row, or null.
Timeline* Timelines::TakeUnopened() {
  const Guard guard(*this);
  return Pop(unopened_);
}

void Timelines::Park(Timeline& timeline, uint64_t virtual_thread) {
  // A trace has no frames: only open calls show that the virtual thread goes on.
  const bool ended = timeline.cursor.top == timeline.frames + 1 && !HasOpenCalls(timeline);
  timeline.virtual_thread = virtual_thread;
  const Guard guard(*this);
  Push(ended ? free_ : parked_[virtual_thread % kParkedBuckets], timeline);
}

void Timelines::Close() {
  for (Timeline*& list : parked_) FreeAll(list);
  FreeAll(free_);
  FreeAll(unopened_);
}

}  // namespace jprof::engine
