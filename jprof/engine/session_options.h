// States what a session records. The values are final when it starts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "jprof/engine/method_table.h"
#include "jprof/engine/thread.h"
#include "profile/files/writer.h"
#include "ptm/event_spec.h"

namespace jprof::engine {

// States which events of a trace are kept: kNormal keeps the first ones of each thread, as many as
// fit into its memory, and kWrap the last ones. kContinuous writes them while the program runs, so
// that the memory can be used again.
enum class TraceKeep { kNormal, kWrap, kContinuous };

struct SessionOptions {
  profile::WriterOptions files;
  bool clock = true;                     // time is the first metric, else counters or counts are
  std::vector<ptm::EventSpec> counters;  // metrics after time, 8 at most
  bool fold_recursion = false;
  bool call_sites = false;
  TraceKeep trace_keep = TraceKeep::kNormal;
  uint64_t trace_memory = 64ull << 20;  // bytes per thread
  uint64_t trace_rotate_ns = 0;         // kContinuous: time in one file; 0: there is one
  uint64_t trace_files = 0;             // how many of the last ones are kept; 0: all
  uint32_t time_every = 1;              // one interval in this many is timed (sparse/intervals.h)
  uint32_t timed_event_period = 32;     // one event in this many is timed; 1 with counters
  MethodTable::Filter method_filter;
  // Methods whose calls are timed one by one, which requires a tree with time, or of which slow
  // calls are kept.
  MethodTable::Watch watch;
  std::vector<uint64_t> slow_ns;  // by pattern of `watch`: how long a slow call lasts; with kWrap
  uint64_t slow_memory = 0;       // bytes of the trace that are kept for slow calls
  // The gates: only calls inside of them are recorded, after the first `gate_after` of theirs. And
  // whether nothing is recorded until Gate::Start.
  MethodTable::Watch gates;
  uint64_t gate_after = 0;
  bool begins_paused = false;
  bool limited() const { return gates || begins_paused; }
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

}  // namespace jprof::engine
