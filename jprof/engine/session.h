// One recording: its files, threads, methods and clock. One object per agent. It exists until the
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
#include "profile/writer.h"

namespace jprof::engine {

enum class TraceKeep { kNormal, kWrap, kContinuous };

struct SessionOptions {
  profile::WriterOptions files;
  bool clock = true;                     // time is the first metric; false: counters or counts only
  std::vector<ptm::EventSpec> counters;  // metrics after time, 8 at most
  bool fold_recursion = false;
  TraceKeep trace_keep = TraceKeep::kNormal;
  uint64_t trace_memory = 64ull << 20;  // per thread
  uint32_t bracket_period = 32;
  MethodTable::Filter method_filter;
  std::function<bool(std::string_view name)> thread_filter;
  // The session begins while the program is running. `name_of` returns the names of the threads
  // that exist then, by tid; empty: not known. Called in probes: must not block or allocate.
  bool joins_late = false;
  std::function<std::string_view(uint32_t tid)> name_of;
  // Threads have the kernel's names, as they are at the end; the process's first one is "main".
  bool kernel_names = false;
  // Functions that the process's first thread entered before the recording began, outermost first.
  // The frames must stay valid until that thread's first event.
  std::span<const Frame> open_frames;
};

struct ClockFacts {
  double ticks_per_second = 1e9;
  double read_ticks = 0;     // one clock read in a series
  double bracket_ticks = 0;  // timer overhead: what a timed event around nothing measures
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
  // A VM begins in the process of a running session. Call before its first event.
  void SetVm(MethodSource* source, MethodTable::Filter filter);

  // The calling thread's state, created at its first event; null: it cannot be recorded.
  Thread* Attach();
  // The same, but a thread has one state until it ends. One that leaves the VM and returns is
  // another Java thread, with another state.
  Thread* AttachOnce();
  // The state of another thread of this process, which need not know about it: for samples only, as
  // its clock and counters are not opened. Null: it cannot be recorded.
  Thread* AttachOther(uint32_t tid);
  // Makes `thread`, from AttachOther, the calling thread's state. Callable in a signal handler.
  static void Adopt(Thread& thread);
  // Ends the state of the calling thread automatically at its exit, as for threads that called
  // Attach. Call once on a thread that adopted its state, outside signal handlers.
  void DetachAtExit();
  // Sets the name when it becomes known or changes; applies the thread filter. `thread` need not be
  // the calling thread.
  void Name(Thread* thread, std::string_view name);
  // The VM reports the end of the calling thread: completes its record. Some Java code still
  // follows.
  void End();
  // The calling thread is gone (or is attached to the VM again): its memory is freed. Also runs
  // automatically at the native thread's exit.
  static void Detach();

  // VM methods may have been freed or replaced: every thread empties its cache before its next
  // event.
  void ForgetMethods();

  // Call before the probes are removed while the program runs: entries end a moment before exits.
  // Call with false if the probes could not be removed.
  void ExpectProbesToEnd(bool end) { probes_end_.store(end, std::memory_order_relaxed); }
  bool probes_end() const { return probes_end_.load(std::memory_order_relaxed); }

  // The program ends. Running threads may continue recording.
  void Finish();

  // After Finish: frees the threads' memory and unmaps the files. All threads are without state
  // then. Requires that no thread is inside a probe, in a sample, or in another function of this
  // session except Detach and the exit of a thread.
  void Close();

  // In a child made by fork(), whose only thread this is: closes its copies of the files and
  // clocks, which belong to the parent. Nothing else may be called afterwards; the object leaks.
  void AbandonInChild();

  // While one exists, no thread's memory is freed. The last one frees the threads that ended
  // meanwhile.
  class Hold {
   public:
    explicit Hold(Session& session);
    ~Hold();
    Hold(const Hold&) = delete;

   private:
    friend class Session;
    Session& session_;
    const Thread* last_;  // of those that existed when the hold began
  };
  // Calls f(Thread&) for every live thread; threads that begin meanwhile may be left out. No lock
  // is held: f may enter the VM, make system calls and wait. The thread may end meanwhile; its
  // memory is kept.
  template <typename F>
  void ForEachThread(F f) {
    const Hold hold(*this);
    for (Thread* thread = Next(nullptr, hold); thread != nullptr; thread = Next(thread, hold))
      f(*thread);
  }

  // Adds a row with its own tree for a part of what runs on the calling thread. `flags` are those
  // of its record (kThreadVirtual). Returns false if there is no space.
  bool AddRow(const char* name, uint32_t flags, Timeline* timeline);

  // Slow-path services for the calling thread.
  // Handles the bits of `attention`. False: the thread is not to be recorded.
  bool HandleAttention(Thread& thread);
  CachedMethod* Resolve(Thread& thread, uint64_t method, uint64_t return_address);
  // Adds a method to the thread's cache, from any source: its method reference has no type.
  CachedMethod* Remember(Thread& thread, MethodSource& source, uint64_t method);
  bool GrowFrames(Thread& thread);
  // `continuation`: the VM's mark of the mounted virtual thread; 0: none is mounted.
  void SwitchTimeline(Thread& thread, uint64_t continuation, uint64_t vm_thread);
  // The same for a virtual thread whose identity (not 0) the caller knows; 0: none is mounted. It
  // must not be the current one.
  void SwitchToVirtualThread(Thread& thread, uint64_t identity);
  bool NextTraceBlock(Thread& thread);  // trace.cc
  void NextTrainRecords(Thread& thread);

  profile::Writer& writer() { return writer_; }
  MethodSource& source() { return *source_; }
  MethodTable& methods() { return methods_; }
  const SessionOptions& options() const { return options_; }
  const ClockFacts& clock() const { return clock_; }
  // From the start, or once half of the tree's memory is used.
  bool FoldsRecursion() { return options_.fold_recursion || writer_.header()->folded_ticks != 0; }
  uint64_t start_unix_ns() const { return start_unix_ns_; }
  // (period - 1) * bracket_ticks, rounded: the timer overhead that a timed event must not count as
  // the handler's.
  int64_t bracket_bias() const { return bracket_bias_; }
  // The share of it that each of the period's intervals keeps.
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
  bool MakeRing(Timeline& timeline, uint32_t capacity);  // trace.cc, like the next two
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
  // Guards `current_thread`, threads_, failed_, holds_, leaving_, gone_, parked timelines. One for
  // all sessions, because a thread that exits does not know whether its session is being closed.
  static SpinLock lock_;
  // Whether signal handlers may have events, or end a recording: they must not interrupt a holder
  // of the lock. Java code alone, whose virtual threads take it often, is spared the system calls.
  static bool has_functions_;
  using ThreadList = boost::intrusive::list<
      Thread,
      boost::intrusive::member_hook<Thread, boost::intrusive::list_member_hook<>, &Thread::link>>;
  ThreadList threads_;        // live ones and, while there are holds, those that ended meanwhile
  Thread* failed_ = nullptr;  // without a record of their own; linked by next_gone
  uint32_t holds_ = 0;
  uint32_t leaving_ = 0;    // threads that leave or are freed now
  Thread* gone_ = nullptr;  // of which those that ended
  TraceDrain drain_;
  std::atomic<bool> probes_end_ = false;
  Timeline* free_timelines_ = nullptr;      // of virtual threads that ended
  Timeline* unopened_timelines_ = nullptr;  // those without space for a row or a root
  Timeline* parked_[kParkedBuckets] = {};   // of those that are unmounted, by identity
};

// Sets the session that receives the events; once, before the first event.
void SetSession(Session* session);

}  // namespace jprof::engine
