#include "jprof/engine/thread_registry.h"

#include <pthread.h>
#include <time.h>

#include <iterator>
#include <new>
#include <utility>

#include "common/uninterrupted_lock.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/session.h"
#include "jprof/engine/shadow_stack.h"
#include "jprof/engine/thread_memory.h"
#include "jprof/engine/thread_record.h"

namespace jprof::engine {

__thread Thread* current_thread __attribute__((tls_model("initial-exec"))) = nullptr;
__thread bool in_rare_work __attribute__((tls_model("initial-exec"))) = false;
SpinLock ThreadRegistry::lock_;
bool ThreadRegistry::events_in_handlers_ = false;

namespace {

// All sessions use one key, because a thread that exits may have been recorded by an earlier one.
pthread_key_t at_thread_exit;

// Makes the owner of a thread forget it, if it knows it.
void ClearSlot(Thread& thread) {
  if (Thread** const slot = std::exchange(thread.slot, nullptr))
    __atomic_store_n(slot, nullptr, __ATOMIC_RELEASE);
}

// Frees the threads of a list that next_gone links.
void FreeThreads(Thread* list) {
  while (list != nullptr) FreeThread(*std::exchange(list, list->next_gone));
}

}  // namespace

class ThreadRegistry::Guard : UninterruptedLock<SpinLock> {
 public:
  Guard() : UninterruptedLock(lock_, events_in_handlers_) {}
};

bool ThreadRegistry::Prepare() {
  static const bool made = pthread_key_create(&at_thread_exit, [](void*) { Detach(); }) == 0;
  return made;
}

// Makes the state of a thread, without a timeline of its own.
Thread* ThreadRegistry::Make() {
  Thread* const thread = MakeThread(session_.sources().has_functions());
  if (thread == nullptr) {
    ++session_.writer().header()->lost_threads;
    return nullptr;
  }
  thread->session = &session_;
  thread->nodes = session_.writer().nodes();
  thread->extra = session_.writer().extra();
  thread->random = (reinterpret_cast<uint64_t>(thread) ^ ptm::ReadTsc()) | 1;
  thread->until_timed = session_.timing().period;
  thread->progress.events = thread->until_timed;
  thread->joined_late = session_.options().joins_late;
  return thread;
}

// Adds a thread to the session and, if `slot` is its owner's `current_thread`, makes it known
// there. Without a timeline, each of its events is counted as lost, without another attempt.
void ThreadRegistry::List(Thread& thread, Thread** slot) {
  if (slot != nullptr) SetRareWork(thread, true);  // its owner is in CurrentThread
  const Guard guard;
  if (thread.timeline.record != nullptr && thread.timeline.record->root != 0) {
    threads_.push_back(thread);
    SetOutside(thread, thread.timeline.outside);
    if (session_.gate().paused())
      __atomic_fetch_or(&thread.attention, uint32_t{kPaused}, __ATOMIC_SEQ_CST);
  } else {
    thread.attention = kNotRecorded;
    thread.next_gone = std::exchange(failed_, &thread);
  }
  thread.slot = slot;
  if (slot != nullptr) *slot = &thread;
}

Thread* ThreadRegistry::CurrentThread() {
  const RareWork work;
  if (current_thread != nullptr) return current_thread;  // by a signal handler, just before
  Thread* const thread = Make();
  if (thread == nullptr) return nullptr;
  const bool opened = session_.timelines().Open(thread->timeline, OpenMetrics(*thread));
  thread->record = thread->timeline.record;
  if (opened) {
    BeginRecord(*thread);
    thread->cursor = thread->timeline.cursor;
  }
  List(*thread, &current_thread);
  DetachAtExit();
  if (!opened) return thread;
  NameAtFirstEvent(*thread);
  StartMetrics(*thread);
  if (IsFirstOfProcess(*thread)) PushOpenFrames(*thread, session_.options().open_frames);
  return thread;
}

Thread* ThreadRegistry::CurrentThreadUntilExit() {
  const Thread* const thread = current_thread;
  if (thread != nullptr && thread->record != nullptr &&
      thread->record->state == profile::kThreadEnded)
    Detach();
  return current_thread != nullptr ? current_thread : CurrentThread();
}

void ThreadRegistry::DetachAtExit() { pthread_setspecific(at_thread_exit, this); }

Thread* ThreadRegistry::ThreadOf(uint32_t tid) {
  const RareWork work;
  Thread* const thread = Make();
  if (thread == nullptr) return nullptr;
  const bool opened = session_.timelines().Open(thread->timeline, 0);
  thread->record = thread->timeline.record;
  thread->page_lock = thread->clock.lock();
  if (opened) {
    BeginRecordOf(*thread, tid);
    thread->cursor = thread->timeline.cursor;
  }
  List(*thread, nullptr);
  return opened ? thread : nullptr;
}

void ThreadRegistry::MakeCurrent(Thread& thread) {
  thread.slot = &current_thread;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current_thread = &thread;
}

void ThreadRegistry::End() {
  Thread* const thread = current_thread;
  if (thread != nullptr && thread->record != nullptr) EndRecord(*thread);
}

// Removes the calling thread from its session. Until it has left, `leaving_` makes Free wait, so
// that the session exists.
void ThreadRegistry::Detach() {
  const RareWork work(nullptr);
  Thread* const thread = Leave();
  if (thread == nullptr) return;
  Session& session = *thread->session;
  if (thread->continuation != 0) session.timelines().SwitchToVirtualThread(*thread, 0);
  if (thread->record != nullptr) EndRecord(*thread);
  session.trace().End(*thread);
  session.threads().Remove(*thread);
}

// Takes the calling thread's state from it. Returns null if it has none: its session may have freed
// the state meanwhile, which only the lock prevents.
Thread* ThreadRegistry::Leave() {
  const Guard guard;
  Thread* const thread = std::exchange(current_thread, nullptr);
  if (thread == nullptr) return nullptr;
  thread->slot = nullptr;
  ++thread->session->threads().leaving_;
  return thread;
}

void ThreadRegistry::Remove(Thread& thread) {
  if (!Unlist(thread)) return;
  FreeThread(thread);
  const Guard guard;
  --leaving_;
}

// Takes a thread that leaves from its list. Returns false if there are holds, the last of which
// frees it.
bool ThreadRegistry::Unlist(Thread& thread) {
  const Guard guard;
  if (!thread.link.is_linked()) {
    Thread** link = &failed_;
    while (*link != &thread) link = &(*link)->next_gone;
    *link = thread.next_gone;
    return true;
  }
  if (holds_ == 0) {
    threads_.erase(threads_.iterator_to(thread));
    return true;
  }
  thread.gone = true;
  thread.next_gone = std::exchange(gone_, &thread);
  --leaving_;
  return false;
}

void ThreadRegistry::Release() {
  const Guard guard;
  for (Thread& thread : threads_) ClearSlot(thread);
  for (Thread* thread = failed_; thread != nullptr; thread = thread->next_gone) ClearSlot(*thread);
}

void ThreadRegistry::Free() {
  const timespec pause = {0, 1'000'000};
  for (;; nanosleep(&pause, nullptr)) {
    const Guard guard;
    if (holds_ == 0 && leaving_ == 0) break;
  }
  threads_.clear_and_dispose([](Thread* thread) { FreeThread(*thread); });
  FreeThreads(std::exchange(failed_, nullptr));
}

void ThreadRegistry::AbandonInChild() {
  new (&lock_) SpinLock;
  current_thread = nullptr;
  for (Thread& thread : threads_) {
    thread.clock.Close();
    thread.counting.group.Close();
  }
}

ThreadRegistry::Hold::Hold(ThreadRegistry& threads) : threads_(threads) {
  const RareWork work;
  const Guard guard;
  ++threads.holds_;
  last_ = threads.threads_.empty() ? nullptr : &threads.threads_.back();
}

ThreadRegistry::Hold::~Hold() {
  const RareWork work;
  Thread* gone = nullptr;
  {
    const Guard guard;
    if (--threads_.holds_ != 0) return;
    ++threads_.leaving_;
    gone = std::exchange(threads_.gone_, nullptr);
    for (Thread* thread = gone; thread != nullptr; thread = thread->next_gone)
      threads_.threads_.erase(threads_.threads_.iterator_to(*thread));
  }
  FreeThreads(gone);
  const Guard guard;
  --threads_.leaving_;
}

// Returns the next live thread after `after`, or the first one if that is null. Returns null if
// there is none up to the hold's last.
Thread* ThreadRegistry::Next(Thread* after, const Hold& hold) {
  if (after == hold.last_) return nullptr;
  const RareWork work;
  const Guard guard;
  auto at = after == nullptr ? threads_.begin() : std::next(threads_.iterator_to(*after));
  while (at->gone && &*at != hold.last_) ++at;
  return at->gone ? nullptr : &*at;
}

void ThreadRegistry::Request(uint32_t attention) {
  const RareWork work;
  const Guard guard;
  for (Thread& thread : threads_) __atomic_fetch_or(&thread.attention, attention, __ATOMIC_SEQ_CST);
}

}  // namespace jprof::engine
