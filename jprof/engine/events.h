// Handles method entries and exits: the hot path of the profiler. See docs/ARCHITECTURE.md.
//
// - The fast path decides everything before it changes anything. If a condition does not hold
//   (first event of a thread, a dispatch, a new context, a newly compiled method, a full stack), it
//   leaves by a tail call to the general version in events.cc, which performs the whole event.
// - One event in EventTiming::period is timed: it goes through a copy of this path between two
//   fenced clock reads, which measure its cost. (Cache misses of a large tree vary a lot.)
// - The fast path has no call, no lock prefix and no division. It takes about 30 instructions and,
//   with time, one clock read.
// - It runs in a leaf probe on the thread itself: no allocation, no VM call, no exception.
#pragma once

#include <atomic>
#include <cstdint>

#include "jprof/engine/method_cache.h"
#include "jprof/engine/rare_work.h"
#include "jprof/engine/recording.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// The version of an event's cost. Increment it when the cost changes: calibration tables that were
// trained with another version do not apply.
inline constexpr int kHandlerVersion = 5;

// One event as seen by the probe.
struct Event {
  uint64_t method;          // handle of the VM
  uint64_t sp;              // stack pointer at the probe, or kNoStack if it is not known
  uint64_t return_address;  // of the probe
  uint64_t continuation;    // the VM's mark of a mounted virtual thread, or 0
  uint64_t vm_thread;
};
inline constexpr uint64_t kNoStack = 0;

// The greatest number that represents a function in place of its address (hookit/sleds.h). Linkers
// place programs above.
inline constexpr uint64_t kMostFunctionNumbers = (4 << 20) - 1;
inline bool HasNumber(uint64_t method) { return method - kFunctionBit <= kMostFunctionNumbers; }

// Returns an event of a function, which is given by its address or by its number.
[[gnu::always_inline]] inline Event FunctionEvent(uint64_t function, uint64_t sp) {
  return {.method = function | kFunctionBit,
          .sp = sp,
          .return_address = 0,
          .continuation = 0,
          .vm_thread = 0};
}

// What the source of an event knows about frames.
// - Java: the stack pointer of each frame is below its caller's.
// - Java beside hooks: the same, where functions with hooks may run in a signal handler that
//   interrupts the event.
// - Hooks in C and C++: an inlined function has the stack pointer of the function that contains it.
//   Its events belong to whatever virtual thread is mounted. They may interrupt an event of the
//   same thread, in a signal handler.
// - Sleds in C and C++ functions (XRay): as for hooks, but each function has its own stack
//   pointer, and all registers may contain the program's values when the event occurs. The
//   fast path is compiled without vector registers; what is outside of it is called
//   through jprof_with_vectors_kept.
struct JavaFrames {
  static constexpr bool kFunctions = false, kInlines = false, kKeepsVectors = false;
  static constexpr bool kInterrupted = false;
};
struct JavaFramesBesideHooks : JavaFrames {
  static constexpr bool kInterrupted = true;
};
struct FunctionFrames {
  static constexpr bool kFunctions = true, kInlines = true, kKeepsVectors = false;
  static constexpr bool kInterrupted = true;
};
struct SledFrames {
  static constexpr bool kFunctions = true, kInlines = false, kKeepsVectors = true;
  static constexpr bool kInterrupted = true;
};

// Handle an event in all cases. `now` is the early clock read, or 0 without a clock.
template <class Recording>
void EnterSlow(const Event& event, int64_t now);
template <class Recording>
void LeaveSlow(const Event& event, int64_t now);

// Counts an event of a signal handler that interrupted RareWork of its thread, or the writing of a
// trace's event.
void DropEvent();

// Ends the frames of functions below `sp`, which were left without an exit: by longjmp, or by an
// exception. Call this with the stack pointer at the place where the thread continues.
void HealFunctions(uint64_t sp);

// Records that a dispatch occurred inside the handler: only its on-CPU time is overhead.
void DispatchedInside(Thread* thread, int64_t now);

// Begin and end a timed event. BeforeTimedEvent draws the next one. AfterTimedEvent treats the time
// between the two fenced reads as overhead, and as a sample of the events that are not timed.
void BeforeTimedEvent(Thread* thread);
void AfterTimedEvent(Thread* thread, int64_t now, int64_t inside);

}  // namespace jprof::engine

// Calls `way` with the six arguments and returns its result. Keeps the vector registers. It is
// defined where sleds are (hookit/).
extern "C" int jprof_with_vectors_kept(uint64_t method, uint64_t sp, uint64_t return_address,
                                       uint64_t continuation, uint64_t vm_thread, int64_t now,
                                       int (*way)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                                  int64_t));

namespace jprof::engine {
namespace internal {

// Leave the fast path. They take the event as separate arguments: the handlers leave by a tail
// call, with each value still in its argument register. An Event would be stored on the stack at
// each event, which once cost 1.5 ns (docs/ARCHITECTURE.md).
template <class Recording, class Frames>
[[gnu::noinline, gnu::cold]] int EnterCold(uint64_t method, uint64_t sp, uint64_t return_address,
                                           uint64_t continuation, uint64_t vm_thread, int64_t now) {
  const RareWork work;
  if (work.acquired())
    EnterSlow<Recording>({method, sp, return_address, continuation, vm_thread}, now);
  else
    DropEvent();
  return 0;
}
template <class Recording, class Frames>
[[gnu::noinline, gnu::cold]] int LeaveCold(uint64_t method, uint64_t sp, uint64_t return_address,
                                           uint64_t continuation, uint64_t vm_thread, int64_t now) {
  const RareWork work;
  if (work.acquired())
    LeaveSlow<Recording>({method, sp, return_address, continuation, vm_thread}, now);
  else
    DropEvent();
  return 0;
}
using WayOut = int (*)(uint64_t method, uint64_t sp, uint64_t return_address, uint64_t continuation,
                       uint64_t vm_thread, int64_t now);
// Leaves the fast path after the event had claimed the trace, and releases the claim.
template <WayOut kCold>
[[gnu::noinline, gnu::cold]] int ColdFromTrace(uint64_t method, uint64_t sp,
                                               uint64_t return_address, uint64_t continuation,
                                               uint64_t vm_thread, int64_t now) {
  StopWritingTrace(*current_thread);
  return kCold(method, sp, return_address, continuation, vm_thread, now);
}
template <class Frames, WayOut kWay>
[[gnu::always_inline]] inline int By(const Event& e, int64_t now) {
  if constexpr (Frames::kKeepsVectors) {
    return jprof_with_vectors_kept(e.method, e.sp, e.return_address, e.continuation, e.vm_thread,
                                   now, kWay);
  }
  return kWay(e.method, e.sp, e.return_address, e.continuation, e.vm_thread, now);
}

// Adds a record for calibration. It takes two stores, because recording for calibration must itself
// cost almost nothing.
[[gnu::always_inline]] inline void Train(Thread* thread, int64_t delta, uint32_t from, uint32_t to,
                                         EventKind event, uint32_t metric = 0) {
  *thread->training.next++ = {static_cast<uint32_t>(delta),
                              from,
                              to,
                              0,
                              static_cast<uint8_t>(thread->cursor.previous),
                              static_cast<uint8_t>(static_cast<uint32_t>(event) | metric << 1)};
}

[[gnu::always_inline]] inline uint8_t* PutVarint(uint8_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}
inline constexpr int kLongestTraceEvent = 5 + 10;

// Adds an event to the trace. `word` is as in a node. Requires that the block has space.
[[gnu::always_inline]] inline void Trace(Thread* thread, uint32_t word, EventKind event,
                                         int64_t delta) {
  const uint64_t head = uint64_t{IndexOf(profile::MethodOf(word))} << 5 |
                        static_cast<uint64_t>(profile::TypeOf(word)) << 1 |
                        static_cast<uint64_t>(event);
  const uint64_t zigzag = static_cast<uint64_t>(delta) << 1 ^ static_cast<uint64_t>(delta >> 63);
  uint8_t* next = PutVarint(PutVarint(thread->cursor.trace_next, head), zigzag);
  profile::TraceBlock* block = thread->timeline.block;
  block->bytes += static_cast<uint32_t>(next - thread->cursor.trace_next);
  ++block->events;
  thread->timeline.trace_value += delta;
  ++thread->timeline.record->trace_events;
  thread->cursor.trace_next = next;
}

template <class Recording>
inline constexpr bool kCounts = Recording::kCounters != kNoCounters;

// Is true if one event in EventTiming::period is timed. Counters are exact and read late at every
// event, and a trace has no tree update.
template <class Recording>
inline constexpr bool kSamples = Recording::kClock && !Recording::kTrace && !kCounts<Recording>;

// Performs the early read of an event's counters.
template <class Recording>
inline void ReadCounters(Thread* thread) {
  if constexpr (kCounts<Recording>) {
    thread->counting.group.ReadAll<Recording::kCounters>(thread->counting.early);
  }
}

// Attributes the counts since the last event to `node`.
template <class Recording>
inline void AttributeCounters(Thread* thread, profile::Node* node) {
  if constexpr (kCounts<Recording>) {
    const int count =
        Recording::kCounters != 0 ? Recording::kCounters : thread->counting.group.size();
    const int extras = count - (Recording::kClock ? 0 : 1);  // metrics beyond the first
    int64_t* extra = thread->extra + static_cast<size_t>(node - thread->nodes) * extras;
    for (int i = 0; i < count; ++i) {
      const int64_t delta = thread->counting.early[i] - thread->counting.late[i];
      if (!Recording::kClock && i == 0) {
        node->self += delta;
      } else {
        extra[Recording::kClock ? i : i - 1] += delta;
      }
    }
  }
}

// Records the counts since the last event, for calibration.
template <class Recording>
inline void TrainCounters(Thread* thread, uint32_t from, uint32_t to, EventKind event) {
  if constexpr (kCounts<Recording> && Recording::kTrain) {
    for (int i = 0; i < thread->counting.group.size(); ++i) {
      const int64_t delta = thread->counting.early[i] - thread->counting.late[i];
      Train(thread, delta < profile::kDirty ? delta : int64_t{profile::kDirty}, from, to, event,
            static_cast<uint32_t>(i + Recording::kClock));
    }
  }
}

// Ends an event: from here on time belongs to the program.
template <class Recording>
inline void ReadLate(Thread* thread, int64_t now) {
  if constexpr (kCounts<Recording>) {
    if constexpr (Recording::kClock) {
      const int64_t late = ptm::ReadTsc();
      if (__atomic_load_n(thread->page_lock, __ATOMIC_RELAXED) != thread->page_seen) [[unlikely]] {
        DispatchedInside(thread, now);
      } else {
        thread->record->own_ticks += late - now;
        thread->last = late;
      }
    }
    thread->counting.group.ReadAll<Recording::kCounters>(thread->counting.late);
  }
}

template <class Recording>
inline bool TraceIsFull(const Thread* thread) {
  return Recording::kTrace &&
         thread->cursor.trace_end - thread->cursor.trace_next < kLongestTraceEvent;
}
template <class Recording>
inline bool TrainIsFull(const Thread* thread) {
  if constexpr (!Recording::kTrain) return false;
  constexpr int kRecords = kCounts<Recording> ? 1 + ptm::kMaxEvents : 1;  // per event
  return thread->training.end - thread->training.next < kRecords;
}

// Begins an event. Returns false if the event is not for the fast path. Counters are read as soon
// as there is a thread to read them into, also for the general version.
template <class Recording, class Frames>
[[gnu::always_inline]] inline bool Begin(Thread* thread, const Event& event) {
  if (thread == nullptr || AttentionOf(*thread) != 0) [[unlikely]]
    return false;
  ReadCounters<Recording>(thread);
  if (Recording::kClock &&
      __atomic_load_n(thread->page_lock, __ATOMIC_RELAXED) != thread->page_seen) [[unlikely]]
    return false;
  return (Frames::kFunctions || event.continuation == thread->continuation) &&
         !TraceIsFull<Recording>(thread) && !TrainIsFull<Recording>(thread);
}

// Returns the event as the general version expects it: a function's event belongs to the
// mounted virtual thread.
template <class Frames>
[[gnu::always_inline]] inline Event Placed(Event event, const Thread* thread) {
  if constexpr (Frames::kFunctions)
    event.continuation = thread != nullptr ? thread->continuation : 0;
  return event;
}

// Handles an event of a trace after Begin. While the event is being written, the block appears to
// be full, so that a handler that interrupts this leaves the fast path, and its events are dropped.
// Those that it recorded before the claim are later than `now`.
template <class Recording, class Frames, EventKind kKind>
[[gnu::always_inline]] inline int TraceFast(Thread* thread, const Event& event, int64_t now) {
  constexpr bool kEntry = kKind == EventKind::kEntry;
  const auto slow = [&]() __attribute__((always_inline)) {
    constexpr WayOut kCold = kEntry ? EnterCold<Recording, Frames> : LeaveCold<Recording, Frames>;
    if constexpr (Frames::kInterrupted)
      return By<Frames, ColdFromTrace<kCold>>(Placed<Frames>(event, thread), now);
    return By<Frames, kCold>(Placed<Frames>(event, thread), now);
  };
  uint8_t* const end = thread->cursor.trace_end;
  if constexpr (Frames::kInterrupted) SetTraceEnd(*thread, nullptr);
  const CachedMethod* cached = FindCached(*thread, event.method);
  if (cached == nullptr || (kEntry && cached->return_address !=
                                          static_cast<uint32_t>(event.return_address))) [[unlikely]]
    return slow();
  const int64_t delta = now - thread->last;
  if (Frames::kInterrupted && delta < 0) [[unlikely]]
    return slow();
  if (profile::MethodOf(cached->word) != kIgnoredMethod) [[likely]] {
    Trace(thread, cached->word, kKind, delta);
    thread->last = now;
  }
  if constexpr (Frames::kInterrupted) SetTraceEnd(*thread, end);
  return 0;
}

// Returns whether a method is one of the three children in the parent's own cache line, and
// sets `node` if it is.
[[gnu::always_inline]] inline bool NearChild(const profile::Node& parent, profile::MethodId method,
                                             uint32_t* node) {
  if (parent.child[0].key == IndexOf(method)) {
    *node = parent.child[0].node;
  } else if (parent.child[1].key == IndexOf(method)) {
    *node = parent.child[1].node;
  } else if (parent.child[2].key == IndexOf(method)) {
    *node = parent.child[2].node;
  } else {
    return false;
  }
  return true;
}

// Does the same for the seven children in the parent's first block, which is a second cache line.
[[gnu::always_inline]] inline bool BlockChild(const Thread& thread, const profile::Node& parent,
                                              profile::MethodId method, uint32_t* node) {
  if (parent.more == 0) return false;
  const auto* block = reinterpret_cast<const profile::ChildBlock*>(thread.nodes + parent.more);
#pragma GCC unroll 7
  for (const profile::ChildSlot& slot : block->child) {
    if (slot.key != IndexOf(method)) continue;
    *node = slot.node;
    return true;
  }
  return false;
}

// Returns whether `sp` belongs to a callee of `frame`. If not, the general version looks for
// frames that have ended.
template <class Frames>
[[gnu::always_inline]] inline bool IsBelow(uint64_t sp, const Frame& frame) {
  return Frames::kInlines ? sp <= frame.sp : sp < frame.sp;
}

// Makes the compiler read again what a signal handler may change between two steps of an event.
template <class Frames>
[[gnu::always_inline]] inline void MayBeInterrupted() {
  if constexpr (Frames::kInterrupted) std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Returns false if a signal handler may have replaced the method before its word was read. Call
// this after reading the word.
template <class Frames>
[[gnu::always_inline]] inline bool IsStill(const CachedMethod& cached, uint64_t method) {
  MayBeInterrupted<Frames>();
  return !Frames::kInterrupted || cached.method == method;
}

// Adds one to a counter of a node. This takes a single instruction, where there is one, if a signal
// handler may count there.
template <class Frames>
[[gnu::always_inline]] inline void Count(uint32_t* count) {
  MayBeInterrupted<Frames>();
  ++*count;
}

// Pushes a frame. A handler that interrupts this uses the same place, so the frame is written again
// when no handler can write there.
template <class Frames>
[[gnu::always_inline]] inline void Push(Thread* thread, Frame* top, const Frame& frame) {
  *top = frame;
  MayBeInterrupted<Frames>();
  thread->cursor.top = top + 1;
  MayBeInterrupted<Frames>();
  if constexpr (Frames::kInterrupted) *top = frame;
}

// Handles an entry after Begin.
template <class Recording, class Frames>
[[gnu::always_inline]] inline int EnterFast(Thread* thread, const Event& event, int64_t now) {
  if constexpr (Recording::kTrace)
    return TraceFast<Recording, Frames, EventKind::kEntry>(thread, event, now);
  const auto slow = [&]() __attribute__((always_inline)) {
    return By<Frames, EnterCold<Recording, Frames>>(Placed<Frames>(event, thread), now);
  };
  const CachedMethod* cached = FindCached(*thread, event.method);
  if (cached == nullptr || cached->return_address != static_cast<uint32_t>(event.return_address))
      [[unlikely]]
    return slow();
  const uint32_t word = cached->word;
  if (!IsStill<Frames>(*cached, event.method)) [[unlikely]]
    return slow();

  Frame* top = thread->cursor.top;
  if (top == thread->cursor.limit || !IsBelow<Frames>(event.sp, top[-1])) [[unlikely]]
    return slow();
  profile::Node* parent = top[-1].node;
  uint32_t index;
  if (!NearChild(*parent, profile::MethodOf(word), &index) &&
      !BlockChild(*thread, *parent, profile::MethodOf(word), &index)) [[unlikely]]
    return slow();
  profile::Node* node = thread->nodes + index;
  uint32_t* count = &node->entries[thread->cursor.previous];
  if (node->word != word || static_cast<int32_t>(*count) < 0) [[unlikely]]
    return slow();

  if constexpr (Recording::kClock) {
    const int64_t delta = now - thread->last;
    parent->self += delta;
    thread->last = now;
    if constexpr (Recording::kTrain) {
      Train(thread, delta, parent->word, word, EventKind::kEntry);
    }
  }
  AttributeCounters<Recording>(thread, parent);
  TrainCounters<Recording>(thread, parent->word, word, EventKind::kEntry);
  Count<Frames>(count);
  Push<Frames>(thread, top, {event.method, event.sp, node});
  thread->cursor.previous = static_cast<uint32_t>(EventKind::kEntry);
  ReadLate<Recording>(thread, now);
  return 0;
}

// Handles an exit after Begin.
template <class Recording, class Frames>
[[gnu::always_inline]] inline int LeaveFast(Thread* thread, const Event& event, int64_t now) {
  if constexpr (Recording::kTrace)
    return TraceFast<Recording, Frames, EventKind::kExit>(thread, event, now);
  const auto slow = [&]() __attribute__((always_inline)) {
    return By<Frames, LeaveCold<Recording, Frames>>(Placed<Frames>(event, thread), now);
  };
  Frame* frame = thread->cursor.top - 1;
  if (frame->method != event.method) [[unlikely]]
    return slow();
  profile::Node* node = frame->node;
  uint32_t* count = &node->exits[thread->cursor.previous];
  if (static_cast<int32_t>(*count) < 0) [[unlikely]]
    return slow();
  if constexpr (Recording::kClock) {
    const int64_t delta = now - thread->last;
    node->self += delta;
    thread->last = now;
    if constexpr (Recording::kTrain) {
      Train(thread, delta, node->word, frame[-1].node->word, EventKind::kExit);
    }
  }
  AttributeCounters<Recording>(thread, node);
  TrainCounters<Recording>(thread, node->word, frame[-1].node->word, EventKind::kExit);
  Count<Frames>(count);
  thread->cursor.top = frame;
  thread->cursor.previous = static_cast<uint32_t>(EventKind::kExit);
  ReadLate<Recording>(thread, now);
  return 0;
}

// Handles a timed event: this is a copy of the code that it measures, so that both cost the same.
template <class Recording, class Frames>
[[gnu::noinline, gnu::cold]] int EnterTimed(uint64_t method, uint64_t sp, uint64_t return_address,
                                            uint64_t continuation, uint64_t vm_thread,
                                            int64_t now) {
  Thread* thread = current_thread;
  BeforeTimedEvent(thread);
  const int64_t begin = ptm::TimedCodeBegin();
  EnterFast<Recording, Frames>(thread, {method, sp, return_address, continuation, vm_thread}, now);
  AfterTimedEvent(thread, now, ptm::TimedCodeEnd() - begin);
  return 0;
}

template <class Recording, class Frames>
[[gnu::noinline, gnu::cold]] int LeaveTimed(uint64_t method, uint64_t sp, uint64_t return_address,
                                            uint64_t continuation, uint64_t vm_thread,
                                            int64_t now) {
  Thread* thread = current_thread;
  BeforeTimedEvent(thread);
  const int64_t begin = ptm::TimedCodeBegin();
  LeaveFast<Recording, Frames>(thread, {method, sp, return_address, continuation, vm_thread}, now);
  AfterTimedEvent(thread, now, ptm::TimedCodeEnd() - begin);
  return 0;
}

}  // namespace internal

// Returns whether the calling thread is known not to record this method, so that the event can
// be skipped.
[[gnu::always_inline]] inline bool IsIgnored(uint64_t method, uint64_t continuation) {
  const Thread* thread = current_thread;
  if (thread == nullptr || AttentionOf(*thread) != 0 || continuation != thread->continuation)
      [[unlikely]]
    return false;
  const CachedMethod* cached = FindCached(*thread, method);
  return cached != nullptr && profile::MethodOf(cached->word) == kIgnoredMethod;
}

// Handles a method entry. It is inlined into the probe.
template <class Recording, class Frames = JavaFrames>
[[gnu::always_inline]] inline int Enter(const Event& event) {
  Thread* thread = current_thread;
  const int64_t now = Recording::kClock ? ptm::ReadTsc() : 0;
  if (!internal::Begin<Recording, Frames>(thread, event)) [[unlikely]]
    return internal::By<Frames, internal::EnterCold<Recording, Frames>>(
        internal::Placed<Frames>(event, thread), now);
  if constexpr (internal::kSamples<Recording>) {
    if (--thread->until_timed == 0) [[unlikely]]
      return internal::By<Frames, internal::EnterTimed<Recording, Frames>>(event, now);
  }
  return internal::EnterFast<Recording, Frames>(thread, event, now);
}

// Handles a method exit. It is inlined into the probe.
template <class Recording, class Frames = JavaFrames>
[[gnu::always_inline]] inline int Leave(const Event& event) {
  Thread* thread = current_thread;
  const int64_t now = Recording::kClock ? ptm::ReadTsc() : 0;
  if (!internal::Begin<Recording, Frames>(thread, event)) [[unlikely]]
    return internal::By<Frames, internal::LeaveCold<Recording, Frames>>(
        internal::Placed<Frames>(event, thread), now);
  if constexpr (internal::kSamples<Recording>) {
    if (--thread->until_timed == 0) [[unlikely]]
      return internal::By<Frames, internal::LeaveTimed<Recording, Frames>>(event, now);
  }
  return internal::LeaveFast<Recording, Frames>(thread, event, now);
}

}  // namespace jprof::engine
