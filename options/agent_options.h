// The options of the agent. They are processed in these steps:
// 1. An agent string (ApplyOptions) or the flags of a command line, by cli/shared/record_options.h,
//    set members of AgentOptions through the table in options/option_table.h.
// 2. Check reports options that exclude or require each other.
// 3. Finalize sets the values that follow from several options.
// 4. ToString writes the agent string that the command passes to the JVM. It parses to the same
//    options.
//
// Pure: uses no JVM and no files.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "common/kinds.h"
#include "common/result.h"
#include "options/filter.h"
#include "options/triggers.h"
#include "ptm/thread_timer.h"

namespace jprof::options {

using jprof::Mode;
enum class TraceMode { kNormal, kWrap, kContinuous };
enum class ProbeChoice { kAuto, kHotspot, kJvmti };
// States what counts the calls of Java methods: HotSpot's probes, or calls woven into the methods'
// bytecode. kAuto weaves where that is possible.
enum class Counter { kAuto, kWoven, kProbe };
// The largest tree, in bytes, that methods can count in themselves.
inline constexpr uint64_t kMostWovenTree = uint64_t{14} << 30;
// States which JVMs of a command are recorded: the command itself, the first one that starts, or
// all. kAuto means kNo for a java command, else kAll.
enum class Children { kAuto, kNo, kFirst, kAll };
// States whether functions of C and C++ that were compiled with hooks are recorded. With kAuto they
// are if the program itself has hooks.
enum class Hooks { kAuto, kNo, kYes };
// States which objects are followed to know whether they still exist: none, a random sample, or
// all.
enum class Live { kNo, kSampled, kExact };

// The option table has the name, the bounds and the help text of each member.
struct AgentOptions {
  Mode mode = Mode::kCallflow;
  std::string out;                   // if empty, jprof-PID.jprof in the working directory
  std::vector<std::string> metrics;  // if empty, time in kCallflow and kTrace, else none
  Filter threads;
  Filter methods;
  Filter focus;
  Filter distribution;      // methods whose calls are timed one by one
  uint64_t time_every = 1;  // kCallflow: how many intervals a timed one stands for
  Filter within;            // methods: only calls inside of them are recorded
  uint64_t after = 0;       // the first calls of these methods, which are not recorded
  bool keep_intrinsics = false;
  uint64_t tree_memory = 512ull << 20;  // bytes
  bool lite = false;                    // kLocks without hold times
  Live live = Live::kNo;                // kObjects
  uint64_t live_interval = 512 << 10;   // bytes; kSampled follows one object in so many on average
  uint64_t snapshots = 0;  // seconds between counts of live objects; 0: at the end only
  bool removed = false;    // kObjects with what bytecode asks for
  bool fold_recursion = false;
  std::vector<std::string> label_from;  // methods whose argument is a label (label_methods.h)
  bool call_sites = false;  // calls of a method from two places of one caller are two contexts
  TraceMode trace_mode = TraceMode::kNormal;
  uint64_t trace_memory = 64ull << 20;  // bytes per thread
  std::vector<std::string> slow;        // kTrace: of which calls it is kept (slow_methods.h)
  uint64_t slow_memory = 1ull << 30;    // bytes that are kept for these
  uint64_t rotate = 0;                  // seconds in a file of a continuous trace; 0: one file
  uint64_t keep = 0;                    // how many of the last files remain; 0: all
  ProbeChoice probe = ProbeChoice::kAuto;
  Counter counter = Counter::kAuto;
  bool only_if_free = false;
  Children children = Children::kAuto;
  Hooks hooks = Hooks::kAuto;
  bool jit_log = false;
  bool jit_code = false;
  bool jvm_events = false;        // kCalltree, kCallflow: with a trace of what the JVM does
  std::vector<Trigger> triggers;  // kScs, and kCalltree with SAMPLE; `every` is set by Finalize
  uint64_t rate = 100;            // samples per second of CPU time, for TIME
  bool force_rate = false;
  uint64_t interrupt_ns = 0;  // if 0, it was not measured and a typical cost is assumed
  ptm::TimerSource timer = ptm::TimerSource::kAny;
  std::string timer_reason;          // why the agent set `timer` to kPosix
  std::vector<std::string> lowered;  // one line per timer whose period Finalize increased
  bool object_info = false;
  bool java_only = false;
  bool name_at_sample = false;
  uint64_t delay = 0;     // seconds
  uint64_t duration = 0;  // seconds; 0 if until the program ends
  bool train = false;
  bool start = true;
  bool verbose = false;
  bool help = false;
  bool detach = false;  // in a running JVM, ends its recording
  std::string reply;    // in a running JVM, the file for the outcome
  std::string text;     // the whole agent string as given, for the profile
};

struct Option;

// An error in the options. Render formats it with the option names of an interface.
struct OptionError {
  const Option* option = nullptr;    // if null, `problem` is the whole message (unknown option)
  std::vector<const Option*> needs;  // one of these is required with `option`
  std::string problem;
};
using Checked = std::expected<void, OptionError>;

enum class Interface { kAgentString, kCommandLine };

// Returns "TIMER needs SCS or SAMPLE: REASON", or "--timer needs --sample: REASON".
std::string Render(const OptionError& error, Interface interface);

// Applies comma-separated options; a later option overrides an earlier one.
Checked ApplyOptions(std::string_view text, AgentOptions& options);

// Reports options that exclude each other or lack an option that they require.
Checked Check(const AgentOptions& options);

// Adds the triggers that the mode implies, sets the period of each, and limits the rates of timers
// so that interrupts take only a small share of the program's time. Call it after Check, and again
// after a change of interrupt_ns. Idempotent.
void Finalize(AgentOptions& options);

// Parses, checks and finalizes the agent string with JPROFOPTS (`environment`) appended.
Result<AgentOptions> ParseAgentOptions(std::string_view options, std::string_view environment);

// Returns the highest requested rate of a timer, in samples per second, or 0 if there is no timer.
uint64_t RequestedRate(const AgentOptions& options);

// Returns an agent string that parses to the same options.
std::string ToString(const AgentOptions& options);

// Returns the text that HELP prints.
std::string AgentHelp();

}  // namespace jprof::options
