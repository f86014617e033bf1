// What happens at a method entry and at a method exit: the hot path of the profiler. See
// docs/HOT_PATH.md.
//
// The fast path decides everything before it changes anything: if one condition does not hold (a
// thread seen first, a dispatch, a new context, a method compiled anew, a full stack) it leaves by
// a tail call to the general version in events.cc, which does the whole event the obvious way. One
// event in `bracket_period` goes through a copy of this path between two fenced clock reads, which
// say what it costs (cache misses of a big tree vary a lot). No call, no lock prefix, no division;
// about 30 instructions and, with time, one clock read.
//
// Callable from a leaf probe on the thread itself: no allocation, no VM call, no exception.
#pragma once

#include <cstdint>

#include "jprof/engine/recording.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// Raise it when the cost of an event changes: tables that were trained with another version do not
// fit.
inline constexpr int kHandlerVersion = 2;

// One event as the probe saw it.
struct Event {
  uint64_t method;          // the VM's handle
  uint64_t sp;              // stack pointer at the probe; kNoStack: not known
  uint64_t return_address;  // of the probe
  uint64_t continuation;    // the VM's mark of a mounted virtual thread; 0 = none
  uint64_t vm_thread;
};
inline constexpr uint64_t kNoStack = 0;

// The general version, complete by itself: a thread seen first, a new context, anything. `now` is
// the early clock read (0 without a clock).
template <class Recording>
void EnterSlow(const Event& event, int64_t now);
template <class Recording>
void LeaveSlow(const Event& event, int64_t now);

// The handler itself was dispatched: only what was on CPU is its own.
void DispatchedInside(Thread* thread, int64_t now);

// Around an event whose turn it is to be bracketed. Before: draws the next one. After: what passed
// between the two fenced reads is the handler's own, and a sample of the events that are not
// bracketed.
void BeforeSample(Thread* thread);
void AfterSample(Thread* thread, int64_t now, int64_t inside);

namespace internal {

template <class Recording>
[[gnu::noinline, gnu::cold]] int EnterCold(uint64_t method, uint64_t sp, uint64_t return_address,
                                           uint64_t continuation, uint64_t vm_thread, int64_t now) {
  EnterSlow<Recording>({method, sp, return_address, continuation, vm_thread}, now);
  return 0;
}
template <class Recording>
[[gnu::noinline, gnu::cold]] int LeaveCold(uint64_t method, uint64_t sp, uint64_t return_address,
                                           uint64_t continuation, uint64_t vm_thread, int64_t now) {
  LeaveSlow<Recording>({method, sp, return_address, continuation, vm_thread}, now);
  return 0;
}

// Two stores: what calibration learns from must cost next to nothing itself.
[[gnu::always_inline]] inline void Train(Thread* thread, int64_t delta, uint32_t from, uint32_t to,
                                         EventKind event, uint32_t metric = 0) {
  *thread->train_next++ = {static_cast<uint32_t>(delta),
                           from,
                           to,
                           0,
                           static_cast<uint8_t>(thread->previous),
                           static_cast<uint8_t>(static_cast<uint32_t>(event) | metric << 1)};
}

[[gnu::always_inline]] inline uint8_t* PutVarint(uint8_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}
inline constexpr int kLongestTraceEvent = 5 + 10;

// `word` as in a node; room for it has been seen to.
[[gnu::always_inline]] inline void Trace(Thread* thread, uint32_t word, EventKind event,
                                         int64_t delta) {
  const uint64_t head = uint64_t{profile::MethodOf(word)} << 5 |
                        static_cast<uint64_t>(profile::TypeOf(word)) << 1 |
                        static_cast<uint64_t>(event);
  const uint64_t zigzag = static_cast<uint64_t>(delta) << 1 ^ static_cast<uint64_t>(delta >> 63);
  uint8_t* next = PutVarint(PutVarint(thread->trace_next, head), zigzag);
  profile::TraceBlock* block = thread->timeline.block;
  block->bytes += static_cast<uint32_t>(next - thread->trace_next);
  ++block->events;
  thread->timeline.trace_value += delta;
  ++thread->timeline.record->trace_events;
  thread->trace_next = next;
}

template <class Recording>
inline constexpr bool kCounts = Recording::kCounters != kNoCounters;

// Whether one event in `bracket_period` is bracketed. Counters are exact and read late every time;
// a trace has no walk.
template <class Recording>
inline constexpr bool kSamples = Recording::kClock && !Recording::kTrace && !kCounts<Recording>;

// The early read of an event's counters.
template <class Recording>
inline void ReadCounters(Thread* thread) {
  if constexpr (kCounts<Recording>) {
    thread->counters.ReadAll<Recording::kCounters>(thread->counters_early);
  }
}

// What was counted since the last event goes to `node`.
template <class Recording>
inline void ChargeCounters(Thread* thread, profile::Node* node) {
  if constexpr (kCounts<Recording>) {
    const int count = Recording::kCounters != 0 ? Recording::kCounters : thread->counters.size();
    const int extras = count - (Recording::kClock ? 0 : 1);  // metrics beyond the first
    int64_t* extra = thread->extra + static_cast<size_t>(node - thread->nodes) * extras;
    for (int i = 0; i < count; ++i) {
      const int64_t delta = thread->counters_early[i] - thread->counters_late[i];
      if (!Recording::kClock && i == 0) {
        node->self += delta;
      } else {
        extra[Recording::kClock ? i : i - 1] += delta;
      }
    }
  }
}

// What was counted since the last event, for calibration.
template <class Recording>
inline void TrainCounters(Thread* thread, uint32_t from, uint32_t to, EventKind event) {
  if constexpr (kCounts<Recording> && Recording::kTrain) {
    for (int i = 0; i < thread->counters.size(); ++i) {
      const int64_t delta = thread->counters_early[i] - thread->counters_late[i];
      Train(thread, delta < profile::kDirty ? delta : int64_t{profile::kDirty}, from, to, event,
            static_cast<uint32_t>(i + Recording::kClock));
    }
  }
}

// The end of an event: what follows belongs to the program again.
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
    thread->counters.ReadAll<Recording::kCounters>(thread->counters_late);
  }
}

template <class Recording>
inline bool TraceIsFull(const Thread* thread) {
  return Recording::kTrace && thread->trace_end - thread->trace_next < kLongestTraceEvent;
}
template <class Recording>
inline bool TrainIsFull(const Thread* thread) {
  if constexpr (!Recording::kTrain) return false;
  constexpr int kRecords = kCounts<Recording> ? 1 + ptm::kMaxEvents : 1;  // of one event
  return thread->train_end - thread->train_next < kRecords;
}

// The early part of every event: false = not for the fast path. Counters are read as soon as there
// is a thread to read them into, also for the general version.
template <class Recording>
[[gnu::always_inline]] inline bool Begin(Thread* thread, uint64_t continuation) {
  if (thread == nullptr || AttentionOf(*thread) != 0) [[unlikely]]
    return false;
  ReadCounters<Recording>(thread);
  if (Recording::kClock &&
      __atomic_load_n(thread->page_lock, __ATOMIC_RELAXED) != thread->page_seen) [[unlikely]]
    return false;
  return continuation == thread->continuation && !TraceIsFull<Recording>(thread) &&
         !TrainIsFull<Recording>(thread);
}

// An entry after Begin.
template <class Recording>
[[gnu::always_inline]] inline int EnterFast(Thread* thread, uint64_t method, uint64_t sp,
                                            uint64_t return_address, uint64_t continuation,
                                            uint64_t vm_thread, int64_t now) {
  const auto slow = [&]() __attribute__((always_inline)) {
    return EnterCold<Recording>(method, sp, return_address, continuation, vm_thread, now);
  };
  const CachedMethod* cached = FindCached(*thread, method);
  if (cached == nullptr || cached->return_address != static_cast<uint32_t>(return_address))
      [[unlikely]]
    return slow();
  const uint32_t word = cached->word;

  if constexpr (Recording::kTrace) {
    if (profile::MethodOf(word) == kIgnoredMethod) [[unlikely]]
      return 0;
    Trace(thread, word, EventKind::kEntry, now - thread->last);
    thread->last = now;
    return 0;
  }

  Frame* top = thread->top;
  if (top == thread->limit || sp >= top[-1].sp) [[unlikely]]
    return slow();
  profile::Node* parent = top[-1].node;
  const uint32_t id = profile::MethodOf(word);
  uint32_t index;
  if (parent->child[0].method == id) {
    index = parent->child[0].node;
  } else if (parent->child[1].method == id) {
    index = parent->child[1].node;
  } else if (parent->child[2].method == id) {
    index = parent->child[2].node;
  } else {
    return slow();
  }
  profile::Node* node = thread->nodes + index;
  uint32_t* count = &node->entries[thread->previous];
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
  ChargeCounters<Recording>(thread, parent);
  TrainCounters<Recording>(thread, parent->word, word, EventKind::kEntry);
  ++*count;
  *top = {method, sp, node};
  thread->top = top + 1;
  thread->previous = static_cast<uint32_t>(EventKind::kEntry);
  ReadLate<Recording>(thread, now);
  return 0;
}

// An exit after Begin.
template <class Recording>
[[gnu::always_inline]] inline int LeaveFast(Thread* thread, uint64_t method, uint64_t sp,
                                            uint64_t return_address, uint64_t continuation,
                                            uint64_t vm_thread, int64_t now) {
  const auto slow = [&]() __attribute__((always_inline)) {
    return LeaveCold<Recording>(method, sp, return_address, continuation, vm_thread, now);
  };
  if constexpr (Recording::kTrace) {
    const CachedMethod* cached = FindCached(*thread, method);
    if (cached == nullptr) [[unlikely]]
      return slow();
    if (profile::MethodOf(cached->word) == kIgnoredMethod) [[unlikely]]
      return 0;
    Trace(thread, cached->word, EventKind::kExit, now - thread->last);
    thread->last = now;
    return 0;
  }

  Frame* frame = thread->top - 1;
  if (frame->method != method) [[unlikely]]
    return slow();
  profile::Node* node = frame->node;
  uint32_t* count = &node->exits[thread->previous];
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
  ChargeCounters<Recording>(thread, node);
  TrainCounters<Recording>(thread, node->word, frame[-1].node->word, EventKind::kExit);
  ++*count;
  thread->top = frame;
  thread->previous = static_cast<uint32_t>(EventKind::kExit);
  ReadLate<Recording>(thread, now);
  return 0;
}

// The same, bracketed: a copy of the code it stands for, so that it costs the same.
template <class Recording>
[[gnu::noinline, gnu::cold]] int EnterSampled(uint64_t method, uint64_t sp, uint64_t return_address,
                                              uint64_t continuation, uint64_t vm_thread,
                                              int64_t now) {
  Thread* thread = current_thread;
  BeforeSample(thread);
  const int64_t begin = ptm::BracketBegin();
  EnterFast<Recording>(thread, method, sp, return_address, continuation, vm_thread, now);
  AfterSample(thread, now, ptm::BracketEnd() - begin);
  return 0;
}

template <class Recording>
[[gnu::noinline, gnu::cold]] int LeaveSampled(uint64_t method, uint64_t sp, uint64_t return_address,
                                              uint64_t continuation, uint64_t vm_thread,
                                              int64_t now) {
  Thread* thread = current_thread;
  BeforeSample(thread);
  const int64_t begin = ptm::BracketBegin();
  LeaveFast<Recording>(thread, method, sp, return_address, continuation, vm_thread, now);
  AfterSample(thread, now, ptm::BracketEnd() - begin);
  return 0;
}

}  // namespace internal

// Whether it is known that the calling thread does not record this method: then there is nothing to
// do.
[[gnu::always_inline]] inline bool IsIgnored(uint64_t method, uint64_t continuation) {
  const Thread* thread = current_thread;
  if (thread == nullptr || AttentionOf(*thread) != 0 || continuation != thread->continuation)
      [[unlikely]]
    return false;
  const CachedMethod* cached = FindCached(*thread, method);
  return cached != nullptr && profile::MethodOf(cached->word) == kIgnoredMethod;
}

// A method was entered. Inlined into the probe.
template <class Recording>
[[gnu::always_inline]] inline int Enter(uint64_t method, uint64_t sp, uint64_t return_address,
                                        uint64_t continuation, uint64_t vm_thread) {
  Thread* thread = current_thread;
  const int64_t now = Recording::kClock ? ptm::ReadTsc() : 0;
  if (!internal::Begin<Recording>(thread, continuation)) [[unlikely]]
    return internal::EnterCold<Recording>(method, sp, return_address, continuation, vm_thread, now);
  if constexpr (internal::kSamples<Recording>) {
    if (--thread->bracket_in == 0) [[unlikely]]
      return internal::EnterSampled<Recording>(method, sp, return_address, continuation, vm_thread,
                                               now);
  }
  return internal::EnterFast<Recording>(thread, method, sp, return_address, continuation, vm_thread,
                                        now);
}

// A method is left. Inlined into the probe.
template <class Recording>
[[gnu::always_inline]] inline int Leave(uint64_t method, uint64_t sp, uint64_t return_address,
                                        uint64_t continuation, uint64_t vm_thread) {
  Thread* thread = current_thread;
  const int64_t now = Recording::kClock ? ptm::ReadTsc() : 0;
  if (!internal::Begin<Recording>(thread, continuation)) [[unlikely]]
    return internal::LeaveCold<Recording>(method, sp, return_address, continuation, vm_thread, now);
  if constexpr (internal::kSamples<Recording>) {
    if (--thread->bracket_in == 0) [[unlikely]]
      return internal::LeaveSampled<Recording>(method, sp, return_address, continuation, vm_thread,
                                               now);
  }
  return internal::LeaveFast<Recording>(thread, method, sp, return_address, continuation, vm_thread,
                                        now);
}

}  // namespace jprof::engine
