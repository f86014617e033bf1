// What the engine keeps for one native thread: a shadow stack, a cache from VM method to id, the
// clock, and the tree it is writing. Owner: the thread itself; others may only set bits of
// `attention`. The fields that the fast path touches stand first, in two cache lines.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>

#include "jprof/engine/method_table.h"
#include "profile/layout.h"
#include "ptm/event_group.h"
#include "ptm/virtual_clock.h"

namespace jprof::engine {

class Session;

// One frame of the shadow stack. frames[0] is the thread row (method 0).
struct Frame {
  uint64_t method = 0;  // the VM's handle
  uint64_t sp = 0;      // stack pointer at the entry probe: callees lie below
  profile::Node* node = nullptr;
};

// VM method -> id and type, four to a cache line. `word` is PackMethod(type, id).
struct CachedMethod {
  uint64_t method = 0;
  uint32_t word = 0;
  uint32_t return_address = 0;  // of its latest entry probe (low half): another means compiled anew
};
struct alignas(64) MethodBucket {
  CachedMethod entry[4];
};

// Reasons to leave the fast path. Set by anyone (atomically), handled by the owner.
enum Attention : uint32_t {
  kForgetMethods = 1,  // VM methods may have been freed: empty the cache
  kNotRecorded = 2,    // filtered out, ended, or disarmed: count and return
};

// What moves with a virtual thread from carrier to carrier; a platform thread has one for life.
struct Timeline {
  Frame* frames = nullptr;
  Frame* top = nullptr;  // next free frame; top[-1] is current
  Frame* limit = nullptr;
  profile::ThreadRecord* record = nullptr;
  uint32_t previous = 0;    // EventKind of the last event
  uint32_t chunk_next = 0;  // nodes this timeline may still use
  uint32_t chunk_end = 0;
  uint32_t chunk_size = 0;
  uint32_t overflow = 0;  // index of a node kept for when nothing else can be had
  bool folded = false;    // has begun its second tree: FoldIfDue (tree.h)
  // Trace: the block being written, and the ring of this timeline's blocks (wrap).
  profile::TraceBlock* block = nullptr;
  uint8_t* trace_next = nullptr;
  uint8_t* trace_end = nullptr;
  uint64_t trace_sequence = 0;
  int64_t trace_value = 0;
  profile::TraceBlock** ring = nullptr;
  uint32_t ring_used = 0;
  uint32_t ring_capacity = 0;
  uint32_t ring_at = 0;
  uint64_t virtual_thread = 0;  // identity while it is parked
  Timeline* next = nullptr;     // in a list of the session
};

struct alignas(64) Thread {
  // Line 1: every event.
  Frame* top = nullptr;
  Frame* limit = nullptr;
  MethodBucket* buckets = nullptr;
  uint32_t bucket_shift = 63;
  uint32_t attention = 0;
  int64_t last = 0;  // clock up to which time has been taken
  const uint32_t* page_lock = nullptr;
  uint32_t page_seen = 0;
  uint32_t bracket_in = 1;  // events until the next bracketed one
  uint32_t previous = 0;
  uint32_t bracketed = 0;  // the present event has been bracketed for itself
  // Line 2.
  profile::Node* nodes = nullptr;
  uint64_t continuation = 0;  // the VM's mark of the mounted virtual thread, 0 = none
  uint8_t* trace_next = nullptr;
  uint8_t* trace_end = nullptr;
  profile::TrainRecord* train_next = nullptr;
  profile::TrainRecord* train_end = nullptr;
  int64_t* extra = nullptr;  // metrics beyond the first, by node
  Session* session = nullptr;

  // Slow paths only.
  Timeline
      timeline;  // the one that is on; top, limit, previous and trace_next above are its live copy
  Timeline carrier;             // the platform thread's own, while a virtual thread's is on
  Timeline* mounted = nullptr;  // where the mounted virtual thread's timeline goes back to
  uint64_t virtual_thread = 0;  // identity of the mounted one
  profile::ThreadRecord* record = nullptr;  // of the native thread (own ticks, dispatches)
  ptm::VirtualClock clock;
  uint64_t random = 0;
  uint32_t method_count = 0;
  uint32_t victim = 0;
  boost::intrusive::list_member_hook<> link;
  ptm::EventGroup counters;                      // open where counters are metrics
  int64_t counters_early[ptm::kMaxEvents] = {};  // as read at the beginning of the present event,
  int64_t counters_late[ptm::kMaxEvents] = {};   // and at the end of the last
  bool named = false;
  bool gone = false;  // detached while there was a Session::Hold; of the session's lock
  Thread* next_gone = nullptr;
  // Sampling (samples.h). `busy`: the tree is being changed, leave it alone; read by a signal
  // handler of the thread.
  volatile uint32_t busy = 0;
  uint64_t vm_thread = 0;    // the VM's thread, where the agent knows it
  uint32_t forgets = 0;      // how often kForgetMethods was heeded
  void* sampling = nullptr;  // what the agent keeps for it, given back with the thread
  void (*give_back_sampling)(void*) = nullptr;
};

// What the fast path reads in each event and others change with atomic instructions. An atomic load
// would keep GCC from comparing in memory.
[[gnu::always_inline]] inline uint32_t AttentionOf(const Thread& thread) {
#ifdef JPROF_SANITIZED_THREADS
  return __atomic_load_n(&thread.attention, __ATOMIC_RELAXED);
#else
  return thread.attention;
#endif
}

// The calling thread's state; null until its first event.
// initial-exec: one load in the probe, and never a call or an allocation.
extern __thread Thread* current_thread __attribute__((tls_model("initial-exec")));

[[gnu::always_inline]] inline uint32_t BucketOf(const Thread& thread, uint64_t method) {
  return static_cast<uint32_t>((method * 0x9e3779b97f4a7c15ull) >> thread.bucket_shift);
}

// The cached entry, or null. Owner only.
[[gnu::always_inline]] inline CachedMethod* FindCached(const Thread& thread, uint64_t method) {
  MethodBucket& bucket = thread.buckets[BucketOf(thread, method)];
  if (bucket.entry[0].method == method) [[likely]]
    return &bucket.entry[0];
  if (bucket.entry[1].method == method) return &bucket.entry[1];
  if (bucket.entry[2].method == method) return &bucket.entry[2];
  if (bucket.entry[3].method == method) return &bucket.entry[3];
  return nullptr;
}

}  // namespace jprof::engine
