// One recording: its files, threads, methods and clock. An agent has one. It exists until the
// process ends or, if the agent is detached, until Close. It owns the parts that callers talk to:
//
//   threads()       who is attached; their states
//   method_cache()  finds methods, for the slow path of the calling thread
//   methods()       the ids and names of methods
//   timelines()     rows of the profile; virtual threads
//   watched()       calls that are timed one by one
//   gate()          what is recorded at all
//   trace()         blocks of a trace
//   slow()          slow calls, whose blocks of the trace are kept
//   writer()        the files
//
// Nothing here is on the fast path.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/result.h"
#include "jprof/engine/clock.h"
#include "jprof/engine/gate/gate.h"
#include "jprof/engine/method_cache.h"
#include "jprof/engine/method_table.h"
#include "jprof/engine/session_options.h"
#include "jprof/engine/slow/slow_calls.h"
#include "jprof/engine/thread_registry.h"
#include "jprof/engine/timelines.h"
#include "jprof/engine/trace_blocks.h"
#include "jprof/engine/watched/watched_calls.h"
#include "profile/files/writer.h"

namespace jprof::engine {

class Session {
 public:
  // Creates the profile. `source` must outlive the session.
  Result<void> Start(SessionOptions options, MethodSource* source);
  // Sets what describes functions of C and C++ (kFunctionBit), before their first event. It must
  // outlive the session. Without one they are described by the session's own source.
  void SetFunctions(MethodSource* functions);
  // Sets what describes sites, for recordings with call sites. It must outlive the session.
  void SetSites(MethodSource* sites) { sources_.sites = sites; }
  // Attaches a VM, which begins in the process of a running session. Call this before its
  // first event.
  void SetVm(MethodSource* source, MethodTable::Filter filter);

  // Announces that the probes are about to be removed while the program runs: entries end a moment
  // before exits. Call this with false if the probes could not be removed.
  void ExpectProbesToEnd(bool end) { probes_end_.store(end, std::memory_order_relaxed); }
  bool probes_end() const { return probes_end_.load(std::memory_order_relaxed); }

  // Completes the profile when the program ends. Running threads may continue recording.
  void Finish();
  // Frees the threads' memory and unmaps the files. Call this after Finish. All threads are then
  // without state. Requires that no thread is inside a probe, in a sample, or in another function
  // of this session except the detaching and the exit of a thread.
  void Close();
  // Closes the copies of the files and clocks in a child made by fork(), whose only thread this is.
  // They belong to the parent. Nothing else may be called afterwards, and the object leaks.
  void AbandonInChild();

  ThreadRegistry& threads() { return threads_; }
  MethodCache& method_cache() { return method_cache_; }
  MethodTable& methods() { return methods_; }
  Timelines& timelines() { return timelines_; }
  WatchedCalls& watched() { return watched_; }
  Gate& gate() { return gate_; }
  TraceBlocks& trace() { return trace_; }
  SlowCalls& slow() { return slow_; }
  profile::Writer& writer() { return writer_; }
  const MethodSources& sources() const { return sources_; }
  const SessionOptions& options() const { return options_; }
  const ClockProperties& clock() const { return clock_; }
  const EventTiming& timing() const { return timing_; }
  uint64_t start_unix_ns() const { return start_unix_ns_; }
  void LostEvent() { __atomic_fetch_add(&writer_.header()->lost_events, 1, __ATOMIC_RELAXED); }

 private:
  void WriteStart();

  SessionOptions options_;
  MethodSources sources_;
  ClockProperties clock_;
  EventTiming timing_;
  uint64_t start_unix_ns_ = 0;
  std::atomic<bool> probes_end_ = false;
  profile::Writer writer_;
  MethodTable methods_;
  WatchedCalls watched_{writer_, methods_};
  MethodCache method_cache_{methods_, sources_};
  Timelines timelines_{writer_, sources_, options_};
  TraceBlocks trace_{writer_, options_};
  SlowCalls slow_{writer_, methods_, trace_, options_};
  ThreadRegistry threads_{*this};
  Gate gate_{options_, writer_, methods_, threads_};
};

// Sets the session that receives the events. Call this once, before the first event.
void SetSession(Session* session);

}  // namespace jprof::engine
