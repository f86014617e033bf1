// The agent's option string (-agentpath:libjprof.so=a,b,c; JPROFOPTS appended), parsed. Pure: no
// JVM, no files. Words are case-insensitive; see docs/AGENT_OPTIONS.md for the list. An unknown
// word is an error that names it and the nearest known one, and the JVM then does not start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "options/triggers.h"
#include "ptm/thread_sampler.h"

namespace jprof::agent {

// kTprof: the log of jitted code and nothing else. kScs: stacks, taken now and then.
enum class Mode { kCalltree, kCallflow, kTrace, kTprof, kScs };
enum class TraceMode { kNormal, kWrap, kContinuous };
enum class ProbeChoice { kAuto, kHotspot, kJvmti };

// One item of THREADS= or CLASSMETHODS=: "+pattern" or "-pattern" (no sign = include); a trailing *
// is a prefix match, without it the whole text must match. Later items win over earlier ones. If
// the first item includes, what matches no item is excluded; if it excludes, included. CLASSMETHODS
// patterns match "pkg/Class.method" (dots in the class part are taken as slashes too) or
// "pkg/Class".
struct FilterItem {
  bool include = true;
  bool prefix = false;
  std::string text;
};
struct Filter {
  std::vector<FilterItem> items;
  bool Empty() const { return items.empty(); }
  bool AcceptsThread(std::string_view name) const;
  // `of_application`: what the item "app" stands for.
  bool AcceptsMethod(std::string_view class_name, std::string_view method_name,
                     bool of_application = false) const;
};

struct AgentOptions {
  Mode mode = Mode::kCallflow;
  std::string
      out;  // OUT= (or LOGPATH=): directory; empty = jprof-PID.jprof in the working directory
  std::vector<std::string> metrics;  // METRICS=time+...: empty = {"time"} in callflow and trace,
                                     // none in calltree; 8 at most
  Filter threads;                    // THREADS=
  Filter methods;                    // CLASSMETHODS= (or METHODS=)
  Filter focus;  // FOCUS=: only these are compiled with probes; `app` is one of its words
  bool keep_intrinsics =
      false;  // KEEP_INTRINSICS: C2 inlines into methods in focus, and uses intrinsics there
  uint64_t tree_memory = 512ull << 20;        // TREE_MEMORY=512M (K, M, G); at least 1M
  bool fold_recursion = false;                // FOLD_RECURSION
  TraceMode trace_mode = TraceMode::kNormal;  // TRACE_MODE=normal|wrap|continuous
  uint64_t trace_memory = 64ull << 20;        // TRACE_MEMORY= per thread; at least 64K
  ProbeChoice probe = ProbeChoice::kAuto;     // PROBE=auto|hotspot|jvmti
  bool only_if_free = false;  // ONCE: stay silent and record nothing if OUT exists already
  bool children = false;  // CHILDREN: several JVMs share the option string; each makes OUT.<pid> if
                          // OUT is taken
  bool jit_log = false;   // TPROF: a log of jitted code; without another mode's word it is the mode
  bool jit_code = false;  // CODE: the log has the instructions, too
  std::vector<Trigger> triggers;  // SCS=event=N+...; SCS alone, and SAMPLE: {TIME}; `every` is set
  uint64_t rate = 100;  // SCS_RATE=, SAMPLE=: samples a second of CPU time (TIME); at most 20,000
  bool force_rate = false;    // FORCE_RATE: no period is made longer for what an interrupt costs
  uint64_t interrupt_ns = 0;  // INTERRUPT_NS=: that cost, measured; 0: the usual one is assumed
  ptm::TimerSource timer = ptm::TimerSource::kAny;  // TIMER=AUTO|PERF|POSIX
  std::vector<std::string> lowered;  // a line for each timer whose period was made longer
  bool object_info = false;          // OBJECTINFO: the class of the object as a leaf
  bool java_only = false;            // JAVA_ONLY: no native and kernel frames
  uint32_t delay = 0,
           duration = 0;  // DELAY=, DURATION= in seconds: sampling starts later; ends (0: never)
  bool train = false;     // TRAIN: also write the train file (used by jprof calibrate)
  bool start = true;      // START (default) / NOSTART: with SCS, `jprof ctl` starts it
  bool verbose = false;   // VERBOSE
  bool help = false;      // HELP
  std::string text;       // the whole string as given, for the profile
};

// Combines the option string with JPROFOPTS (pass "" if unset; appended, later words win).
Result<AgentOptions> ParseAgentOptions(std::string_view options, std::string_view environment);

// The highest rate that was asked for, samples a second, of any timer; 0: there is none.
uint64_t AskedRate(const AgentOptions& options);

// The inverse: a string that parses to the same options (the launcher's way to the agent).
std::string ToString(const AgentOptions& options);

// What HELP prints.
std::string_view AgentHelp();

}  // namespace jprof::agent
