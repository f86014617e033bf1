// The options of the agent, and the way of one from the text to its effect:
//   1. words of an agent string (ApplyWords), or flags of a command line (cli/record_options.h),
//   set
//      members of AgentOptions through the table of options/option_table.h;
//   2. Check reports options that exclude or need each other;
//   3. Settle fills in what follows from several options;
//   4. ToString writes the string that the JVM passes to the agent, which parses to the same
//   options.
// Pure: no JVM, no files.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "options/filter.h"
#include "options/triggers.h"
#include "ptm/thread_timer.h"

namespace jprof::agent {

// kTprof: the log of jitted code and nothing else. kScs: sampled stacks.
enum class Mode { kCalltree, kCallflow, kTrace, kTprof, kScs };
enum class TraceMode { kNormal, kWrap, kContinuous };
enum class ProbeChoice { kAuto, kHotspot, kJvmti };

// The table has the word, the bounds and the help text of each member.
struct AgentOptions {
  Mode mode = Mode::kCallflow;
  std::string out;                   // empty: jprof-PID.jprof in the working directory
  std::vector<std::string> metrics;  // empty: time in kCallflow and kTrace, else none
  Filter threads;
  Filter methods;
  Filter focus;
  bool keep_intrinsics = false;
  uint64_t tree_memory = 512ull << 20;  // bytes
  bool fold_recursion = false;
  TraceMode trace_mode = TraceMode::kNormal;
  uint64_t trace_memory = 64ull << 20;  // bytes per thread
  ProbeChoice probe = ProbeChoice::kAuto;
  bool only_if_free = false;
  bool children = false;
  bool jit_log = false;
  bool jit_code = false;
  std::vector<Trigger> triggers;  // kScs, and kCalltree with SAMPLE; after Settle `every` is set
  uint64_t rate = 100;            // samples per second of CPU time, for TIME
  bool force_rate = false;
  uint64_t interrupt_ns = 0;  // 0: not measured, the usual cost is assumed
  ptm::TimerSource timer = ptm::TimerSource::kAny;
  std::vector<std::string> lowered;  // one line for each timer whose period Settle lengthened
  bool object_info = false;
  bool java_only = false;
  uint64_t delay = 0;     // seconds
  uint64_t duration = 0;  // seconds; 0: until the program ends
  bool train = false;
  bool start = true;
  bool verbose = false;
  bool help = false;
  std::string text;  // the whole agent string as given, for the profile
};

struct Option;

// What is wrong with the options. Each interface renders it in its own words.
struct OptionError {
  const Option* option = nullptr;    // null: `problem` is complete (an unknown word)
  std::vector<const Option*> needs;  // one of these is required with `option`
  std::string problem;
};
using Checked = std::expected<void, OptionError>;

enum class Interface { kAgentString, kCommandLine };

// "KEEP_INTRINSICS needs FOCUS", or "--keep-intrinsics needs --focus".
std::string Render(const OptionError& error, Interface interface);

// Sets what the comma-separated words say; a later word replaces an earlier one.
Checked ApplyWords(std::string_view words, AgentOptions& options);

// Options that exclude each other, or that need another.
Checked Check(const AgentOptions& options);

// After Check: the triggers that the mode implies and the period of each; no timer is so fast that
// its interrupts take the program's time. Idempotent, also after a change of interrupt_ns.
void Settle(AgentOptions& options);

// The agent's options from its string and JPROFOPTS, which is appended: applied, checked, settled.
Result<AgentOptions> ParseAgentOptions(std::string_view options, std::string_view environment);

// The highest rate of any timer as requested, in samples per second; 0: there is no timer.
uint64_t AskedRate(const AgentOptions& options);

// An agent string that parses to the same options.
std::string ToString(const AgentOptions& options);

// What HELP prints.
std::string AgentHelp();

}  // namespace jprof::agent
