// The engine's state for one native thread: a shadow stack, a cache that maps VM methods to ids,
// the clock, and the current tree. The thread itself owns it; other threads may only set bits of
// `attention`. The fields that the fast path accesses come first, in two cache lines.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "profile/files/layout.h"
#include "profile/files/sparse_time.h"
#include "ptm/event_group.h"
#include "ptm/virtual_clock.h"

namespace jprof::engine {

class Session;
struct MethodBucket;  // method_cache.h

struct WatchedCall;  // watched/watched_calls.h
struct OpenCalls;    // slow/slow_calls.h

// One frame of the shadow stack. frames[0] is the thread row (method 0).
struct Frame {
  uint64_t method = 0;  // handle of the VM; may have kOpenBit, kWatchedBit and kGateBit
  uint64_t sp = 0;      // stack pointer at the entry probe, which callees are below
  profile::Node* node = nullptr;
};

// Marks the method of an event or a frame that is a function of C or C++, whose address is in the
// other bits. No handle of a VM has this bit.
inline constexpr uint64_t kFunctionBit = uint64_t{1} << 63;

// Marks Frame::method of a function that had been entered before its recording began: neither its
// entry nor its exit is counted. No function's address has this bit.
inline constexpr uint64_t kOpenBit = uint64_t{1} << 62;

// Marks Frame::method of a label, whose id is in the low bits: neither its entry nor its exit is an
// event. A label of a function has kFunctionBit, too. No handle and no address has this bit.
inline constexpr uint64_t kLabelBit = uint64_t{1} << 61;

// Marks CachedMethod::method of a watched method, and Frame::method of a call that is timed
// (watched/watched_calls.h). Their events leave the fast path, because no event has this bit.
inline constexpr uint64_t kWatchedBit = uint64_t{1} << 60;

// Marks Frame::method of a gate's call, and the methods by which caches find gates
// (gate/gated_events.h). No event has this bit either.
inline constexpr uint64_t kGateBit = uint64_t{1} << 59;

// The reasons to leave the fast path. Any thread sets them atomically, and the owner handles them.
enum Attention : uint32_t {
  kForgetMethods = 1,    // VM methods may have been freed: empty the cache
  kNotRecorded = 2,      // filtered out, ended, or disarmed: count and return
  kPaused = 4,           // the session is paused (gate/gate.h): return
  kResume = 8,           // it is no longer paused
  kOutside = 1u << 16,   // the timeline is outside of the gates; in a byte of the owner's own
  kRareWork = 1u << 24,  // the owner is in RareWork; in another byte of its own
};

// The position at which the next event is recorded.
struct Cursor {
  Frame* top = nullptr;  // next free frame; top[-1] is the current one
  Frame* limit = nullptr;
  uint8_t* trace_next = nullptr;
  uint8_t* trace_end = nullptr;
  uint32_t previous = 0;  // EventKind of the last event
};

// What a thread has gone through since it began or, of a timeline, since that began. The difference
// between two moments is what a call took (watched/watched_calls.h).
struct Progress {
  int64_t off_cpu = 0;        // ticks in which it did not run
  int64_t timed_ticks = 0;    // of handlers of events that were timed alone
  int64_t handler_ticks = 0;  // of all other handlers, as timed events estimate them
  uint64_t events = 0;
  uint64_t timed = 0;  // events that were timed alone
};

// A sequence of events with its own stack, tree and trace. It moves with a virtual thread from
// carrier to carrier, and a platform thread keeps one.
struct Timeline {
  Frame* frames = nullptr;
  Cursor cursor;  // while it is not on a thread
  profile::ThreadRecord* record = nullptr;
  // The nodes of the tree that this timeline may still use.
  uint32_t chunk_next = 0;
  uint32_t chunk_end = 0;
  uint32_t chunk_size = 0;
  uint32_t overflow = 0;  // index of the node that is used when no other is left
  bool folded = false;    // whether the second tree has begun: FoldIfDue (tree.h)
  bool outside = false;   // of the methods to which the recording is limited (gate/gate.h)
  uint32_t run = 0;       // Gate::run, as of which the frames are valid
  // The block of the trace that is being written, and the ring of this timeline's blocks (wrap).
  profile::TraceBlock* block = nullptr;
  uint64_t trace_sequence = 0;
  int64_t trace_value = 0;
  profile::TraceBlock** ring = nullptr;
  uint32_t ring_used = 0;
  uint32_t ring_capacity = 0;
  uint32_t ring_at = 0;
  uint64_t overwritten_sequence = 0;  // of the latest block that was overwritten
  OpenCalls* open_calls = nullptr;    // of methods that are watched for slow calls; null if none
  // The calls that are being timed, outermost first, and what to add to the thread's progress.
  WatchedCall* watched = nullptr;
  uint32_t watched_depth = 0;
  uint32_t watched_capacity = 0;
  Progress progress;
  // The identity of the virtual thread while it is unmounted, and the next one in a list of
  // Timelines.
  uint64_t virtual_thread = 0;
  Timeline* next = nullptr;
};

// Counters as metrics: their values at the beginning of the current event and at the end of the
// last one.
struct Counting {
  ptm::EventGroup group;
  int64_t early[ptm::kMaxEvents] = {};
  int64_t late[ptm::kMaxEvents] = {};

  // Makes the beginning of the current event that of the next difference.
  void BeginAgain() { std::copy(std::begin(early), std::end(early), std::begin(late)); }
};

// Records for calibration: the next one, and the end of the run of records.
struct TrainingRun {
  profile::TrainRecord* next = nullptr;
  profile::TrainRecord* end = nullptr;
};

// Whether the interval since the last event is timed, and what it stands for (sparse/intervals.h).
enum class Interval : uint32_t {
  kUntimed,
  kOpensWindow,  // not timed, but the next event reads the clock
  kTimedForItself,
  kTimedForMany,
};

// How the intervals to be timed are chosen, and what they came to since it was added to the
// profile. Recordings that time every interval do not use it.
struct Intervals {
  uint32_t threshold = 0;  // a random number below it opens a window
  uint32_t every = 1;
  uint32_t window = 0;     // intervals that are timed after the one that begins next
  uint32_t ended_at = 0;   // the context of the interval that the last clock reading has ended
  int64_t long_ticks = 0;  // an interval above this makes the next ones of its context be timed
  int64_t longest = 0;     // an interval above this stands only for itself
  uint64_t timed = 0;
  uint64_t sampled = 0;  // timed ones that stand for `every`, with the sum of their ticks
  double sampled_ticks = 0;
  double sampled_squares = 0;
  uint64_t untimed_ticks = 0;  // of long intervals that were not timed
  // The contexts whose intervals are all timed, as ContextTag() at the places ContextTag() modulo
  // the size, and how many short ones end that. 0: none.
  uint32_t long_context[256] = {};
  uint8_t short_until[256] = {};
  // Contexts in which a window found a long interval at one of the last events, or 0. The first is
  // that of the last event.
  uint32_t found_long[profile::kWindow] = {};
};

// The data that the agent keeps for a thread.
class ThreadExtension {
 public:
  // Frees the data. It is called once, when the thread's memory is freed.
  virtual void Release() = 0;

  // What was found by the addresses of the VM's methods and classes. It is set to zeros when these
  // may have been freed (HandleAttention).
  void* found = nullptr;
  size_t found_bytes = 0;

 protected:
  ~ThreadExtension() = default;
};

struct alignas(64) Thread {
  // --- The first line of the fast path.
  Cursor cursor;  // of `timeline`
  MethodBucket* buckets = nullptr;
  uint32_t bucket_shift = 63;
  uint32_t attention = 0;
  int64_t last = 0;  // clock value up to which time has been attributed
  // --- The second line of the fast path.
  const uint32_t* page_lock = nullptr;
  uint32_t page_seen = 0;
  uint32_t until_timed = 1;  // events until the next timed one
  uint32_t timed_alone = 0;  // the current event was timed individually
  Interval interval = Interval::kTimedForItself;
  profile::Node* nodes = nullptr;
  uint64_t continuation = 0;  // the VM's mark of the mounted virtual thread, or 0
  TrainingRun training;
  int64_t* extra = nullptr;  // metrics beyond the first, by node

  // --- Fields that only slow paths use, and recordings that time some intervals only.
  Session* session = nullptr;
  Intervals intervals;
  profile::ThreadRecord* record = nullptr;  // record of the native thread (own ticks, dispatches)
  ptm::VirtualClock clock;
  uint64_t random = 0;
  Progress progress;    // its `events` include those until the next timed event
  uint32_t victim = 0;  // child slot to be replaced next
  uint32_t method_count = 0;
  uint32_t forgets = 0;  // how often the method cache was emptied on request
  bool named = false;
  // Is true if the session began when methods of the thread were already running: these exit
  // without an entry.
  bool joined_late = false;
  // Points to the owner's `current_thread` while that refers to this object. Null if the owner does
  // not know the object.
  Thread** slot = nullptr;
  // Timelines.
  Timeline timeline;            // the current one; its cursor is in line 1
  Timeline carrier;             // the platform thread's own, while a virtual thread's is current
  Timeline* mounted = nullptr;  // the mounted virtual thread's timeline, to be stored back
  uint64_t virtual_thread = 0;  // identity of the mounted one
  // Links the thread into the registry's list.
  boost::intrusive::list_member_hook<> link;
  bool gone = false;  // detached while there was a hold; guarded by the registry's lock
  Thread* next_gone = nullptr;
  // Memory: the frames in their own mapping, and method caches that were too small, by size.
  size_t first_frames = 0;
  MethodBucket* outgrown_buckets[14] = {};
  // Counters and calibration.
  Counting counting;
  profile::TrainRecord train_sink[16];  // records for which the profile has no space
  // Sampling (samples.h).
  std::atomic<uint32_t> busy = 0;  // the tree is being changed: a signal handler must not touch it
  uint64_t vm_thread = 0;          // thread of the VM, if the agent has set it
  const uint64_t* woven_current = nullptr;  // where woven code keeps the place of the current node
  std::atomic<ThreadExtension*> extension = nullptr;

  // Stores the cursor in the current timeline, before another one becomes current.
  void SaveCursor() { timeline.cursor = cursor; }
  inline void MakeCurrent(const Timeline& next);
};
static_assert(offsetof(Thread, page_lock) == 64 && offsetof(Thread, session) == 128,
              "the fast path touches two cache lines");

// Reads the attention bits at each event of the fast path, while other threads change them by
// atomic instructions. It is a plain load, because GCC does not compare an atomic in memory.
[[gnu::always_inline]] inline uint32_t AttentionOf(const Thread& thread) {
#ifdef JPROF_SANITIZED_THREADS
  return __atomic_load_n(&thread.attention, __ATOMIC_RELAXED);
#else
  return thread.attention;
#endif
}

// Sets or clears a bit of `attention` that has a byte of its own. Only the owner may call it. It is
// a plain store of the byte, so that no bit which another thread sets at the same time is lost. A
// signal handler sees what was done before.
template <Attention kBit>
[[gnu::always_inline]] inline void SetOwnAttention(Thread& thread, bool on) {
  static_assert(std::endian::native == std::endian::little &&
                (kBit == kOutside || kBit == kRareWork));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(
      reinterpret_cast<uint8_t*>(&thread.attention) + std::countr_zero(uint32_t{kBit}) / 8,
      uint8_t{on}, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void SetOutside(Thread& thread, bool on) { SetOwnAttention<kOutside>(thread, on); }

inline void Thread::MakeCurrent(const Timeline& next) {
  timeline = next;
  cursor = next.cursor;
  SetOutside(*this, next.outside);
}

// The calling thread's state, which is null until its first event. With initial-exec it takes one
// load in the probe, and never a call or an allocation.
extern __thread Thread* current_thread __attribute__((tls_model("initial-exec")));

}  // namespace jprof::engine
