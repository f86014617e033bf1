// One recording: its files, threads, methods and clock. An agent has one. It exists until the
// process ends or, if the agent is detached, until Close. Nothing here is on the fast path.
#pragma once

#include <pthread.h>

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/spin_lock.h"
#include "jprof/engine/method_table.h"
#include "jprof/engine/thread.h"
#include "jprof/engine/trace.h"
#include "profile/files/writer.h"

namespace jprof::engine {

enum class TraceKeep { kNormal, kWrap, kContinuous };

struct SessionOptions {
  profile::WriterOptions files;
  bool clock = true;                     // time is the first metric, else counters or counts are
  std::vector<ptm::EventSpec> counters;  // metrics after time, 8 at most
  bool fold_recursion = false;
  TraceKeep trace_keep = TraceKeep::kNormal;
  uint64_t trace_memory = 64ull << 20;  // bytes per thread
  uint32_t bracket_period = 32;
  MethodTable::Filter method_filter;
  std::function<bool(std::string_view name)> thread_filter;
  // Is true if the session begins while the program is running. `name_of` then returns the name of
  // a thread by tid, or an empty text if it is not known. It is called in probes and must not
  // block or allocate.
  bool joins_late = false;
  std::function<std::string_view(uint32_t tid)> name_of;
  // Gives threads the kernel's names, as they are at the end. The process's first thread is "main".
  bool kernel_names = false;
  // Functions that the process's first thread entered before the recording began, outermost first.
  // The frames must stay valid until that thread's first event.
  std::span<const Frame> open_frames;
};

struct ClockFacts {
  double ticks_per_second = 1e9;
  double read_ticks = 0;     // cost of one clock read in a series
  double bracket_ticks = 0;  // timer overhead, as a timed event around nothing measures it
  int64_t granularity = 1;
};

class Session {
 public:
  // Creates the profile. `source` must outlive the session.
  Result<void> Start(SessionOptions options, MethodSource* source);
  // Sets what describes functions of C and C++ (kFunctionBit), before their first event. It must
  // outlive the session. Without one they are described by the session's own source.
  void SetFunctions(MethodSource* functions) {
    functions_ = functions;
    has_functions_ = true;
  }
  // Attaches a VM, which begins in the process of a running session. Call this before its
  // first event.
  void SetVm(MethodSource* source, MethodTable::Filter filter);

  // Returns the calling thread's state, which is created at its first event, or null if the thread
  // cannot be recorded.
  Thread* Attach();
  // Does the same, but a thread has one state until it ends. With Attach, a thread that leaves the
  // VM and returns is another Java thread, with another state.
  Thread* AttachOnce();
  // Creates the state of another thread of this process, which need not know about it. It is for
  // samples only, as the thread's clock and counters are not opened. Returns null if the thread
  // cannot be recorded.
  Thread* AttachOther(uint32_t tid);
  // Makes `thread`, from AttachOther, the calling thread's state. Can be called in a
  // signal handler.
  static void Adopt(Thread& thread);
  // Makes the state of the calling thread end at its exit, as for threads that called Attach. Call
  // this once on a thread that adopted its state, outside signal handlers.
  void DetachAtExit();
  // Sets the name of a thread when it becomes known or changes, and applies the thread filter.
  // `thread` need not be the calling thread.
  void Name(Thread* thread, std::string_view name);
  // Completes the record of the calling thread, whose end the VM reports. Some Java code
  // still follows.
  void End();
  // Frees the memory of the calling thread, which ends or is attached to the VM again. This also
  // happens automatically when the native thread exits.
  static void Detach();

  // Makes every thread empty its cache before its next event, because VM methods may have been
  // freed or replaced.
  void ForgetMethods();

  // Announces that the probes are about to be removed while the program runs: entries end a moment
  // before exits. Call this with false if the probes could not be removed.
  void ExpectProbesToEnd(bool end) { probes_end_.store(end, std::memory_order_relaxed); }
  bool probes_end() const { return probes_end_.load(std::memory_order_relaxed); }

  // Completes the profile when the program ends. Running threads may continue recording.
  void Finish();

  // Frees the threads' memory and unmaps the files. Call this after Finish. All threads are then
  // without state. Requires that no thread is inside a probe, in a sample, or in another function
  // of this session except Detach and the exit of a thread.
  void Close();

  // Closes the copies of the files and clocks in a child made by fork(), whose only thread this is.
  // They belong to the parent. Nothing else may be called afterwards, and the object leaks.
  void AbandonInChild();

  // Keeps the memory of all threads while it exists. The last one frees the threads that
  // ended meanwhile.
  class Hold {
   public:
    explicit Hold(Session& session);
    ~Hold();
    Hold(const Hold&) = delete;

   private:
    friend class Session;
    Session& session_;
    const Thread* last_;  // last of those that existed when the hold began
  };
  // Calls f(Thread&) for every live thread. Threads that begin meanwhile may be left out. No
  // lock is held: f may enter the VM, make system calls and wait. The thread may end meanwhile;
  // its memory is kept.
  template <typename F>
  void ForEachThread(F f) {
    const Hold hold(*this);
    for (Thread* thread = Next(nullptr, hold); thread != nullptr; thread = Next(thread, hold))
      f(*thread);
  }

  // Adds a row with its own tree for a part of what runs on the calling thread. `flags` are those
  // of its record (kThreadVirtual). Returns false if there is no space.
  bool AddRow(const char* name, uint32_t flags, Timeline* timeline);

  // The following functions serve the slow path of the calling thread.
  //
  // Handles the bits of `attention`. Returns false if the thread is not to be recorded.
  bool HandleAttention(Thread& thread);
  CachedMethod* Resolve(Thread& thread, uint64_t method, uint64_t return_address);
  // Adds a method of any source to the thread's cache. Its method reference has no type.
  CachedMethod* Remember(Thread& thread, MethodSource& source, uint64_t method);
  bool GrowFrames(Thread& thread);
  // Switches to the timeline of the mounted virtual thread. `continuation` is the VM's mark of it,
  // or 0 if none is mounted.
  void SwitchTimeline(Thread& thread, uint64_t continuation, uint64_t vm_thread);
  // Switches to the timeline of a virtual thread whose identity the caller knows, or back to the
  // thread's own if `identity` is 0. The virtual thread must not be the current one.
  void SwitchToVirtualThread(Thread& thread, uint64_t identity);
  bool NextTraceBlock(Thread& thread);  // in trace.cc
  void NextTrainRecords(Thread& thread);

  profile::Writer& writer() { return writer_; }
  MethodSource& source() { return *source_; }
  MethodTable& methods() { return methods_; }
  const SessionOptions& options() const { return options_; }
  const ClockFacts& clock() const { return clock_; }
  // Returns whether recursion is folded: from the start, or once half of the tree's memory is used.
  bool FoldsRecursion() { return options_.fold_recursion || writer_.header()->folded_ticks != 0; }
  uint64_t start_unix_ns() const { return start_unix_ns_; }
  // Returns the timer overhead that a timed event must not count as the handler's: (period - 1) *
  // bracket_ticks, rounded.
  int64_t bracket_bias() const { return bracket_bias_; }
  // Returns the share of it that each of the period's intervals keeps.
  int64_t overhead_residue() const { return overhead_residue_; }
  int64_t longest_walk() const { return longest_walk_; }
  void LostEvent() { __atomic_fetch_add(&writer_.header()->lost_events, 1, __ATOMIC_RELAXED); }

 private:
  static constexpr uint32_t kParkedBuckets = 4096;

  Thread* Next(Thread* after, const Hold& hold);
  Thread* NewThread();
  void List(Thread& thread, Thread** slot);
  void PushOpenFrames(Thread& thread);
  void EndOf(Thread& thread);
  bool OpenTimeline(Timeline& timeline, uint32_t flags);
  bool MakeRing(Timeline& timeline, uint32_t capacity);  // in trace.cc, like the next two
  void EndTrace(Thread& thread);
  void FinishTrace();
  MethodSource& SourceOf(uint64_t method);
  CachedMethod* PutInCache(Thread& thread, const CachedMethod& method);
  bool GrowBuckets(Thread& thread);
  void NoteMultiplexing(Thread& thread);
  void SwitchTo(Thread& thread, uint64_t continuation, uint64_t identity);
  Timeline* TakeTimeline(uint64_t virtual_thread);
  Timeline* NewTimeline();
  void Park(Timeline* timeline, uint64_t virtual_thread);

  SessionOptions options_;
  MethodSource* source_ = nullptr;
  MethodSource* functions_ = nullptr;
  ClockFacts clock_;
  uint64_t start_unix_ns_ = 0;
  int64_t bracket_bias_ = 0;
  int64_t overhead_residue_ = 0;
  int64_t longest_walk_ = 0;
  profile::Writer writer_;
  MethodTable methods_;
  // Guards `current_thread`, threads_, failed_, holds_, leaving_, gone_ and parked timelines. It
  // is one for all sessions, because a thread that exits does not know whether its session is
  // being closed.
  static SpinLock lock_;
  // Is true if signal handlers may have events, or end a recording: they must not interrupt a
  // holder of the lock. Java code alone, whose virtual threads take it often, is spared the
  // system calls.
  static bool has_functions_;
  using ThreadList = boost::intrusive::list<
      Thread,
      boost::intrusive::member_hook<Thread, boost::intrusive::list_member_hook<>, &Thread::link>>;
  ThreadList threads_;        // live ones and, while there are holds, those that ended meanwhile
  Thread* failed_ = nullptr;  // threads without their own record, linked by next_gone
  uint32_t holds_ = 0;
  uint32_t leaving_ = 0;    // threads that leave or are freed now
  Thread* gone_ = nullptr;  // those of them that ended
  TraceDrain drain_;
  std::atomic<bool> probes_end_ = false;
  Timeline* free_timelines_ = nullptr;      // those of virtual threads that ended
  Timeline* unopened_timelines_ = nullptr;  // those without space for a row or a root
  Timeline* parked_[kParkedBuckets] = {};   // those of unmounted virtual threads, by identity
};

// Sets the session that receives the events. Call this once, before the first event.
void SetSession(Session* session);

}  // namespace jprof::engine
