#include "options/option_table.h"

#include <algorithm>
#include <ranges>

#include "ptm/sampling_rate.h"

namespace jprof::agent {
namespace {

using O = AgentOptions;

constexpr uint64_t kKilo = 1024, kMega = 1024 * kKilo, kGiga = 1024 * kMega;
constexpr uint64_t kMostTree = 256 * kGiga;  // 2^32 nodes of 64 bytes
constexpr uint64_t kMostTrace = 64 * kGiga;
constexpr uint64_t kMostSeconds = 1'000'000;

// In the order of the enumerators.
constexpr std::string_view kTraceModes[] = {"normal", "wrap", "continuous"};
constexpr std::string_view kProbes[] = {"auto", "hotspot", "jvmti"};
constexpr std::string_view kTimers[] = {"auto", "perf", "posix"};

// In the order of HELP: word, aliases, flag, argument, target, commands, help.
constexpr Option kOptions[] = {
    {"OUT", "LOGPATH", "-o,--out", "DIR", Path{&O::out}, kAllCommands,
     "where the profile goes (default: jprof-PID.jprof; by a command, NAME.jprof after the main "
     "class or jar)"},
    {"CALLFLOW", "", "", "", ModeWord{Mode::kCallflow}, kNoCommand,
     "record the call tree with counts and metrics (the default mode)"},
    {"CALLTREE", "", "", "", ModeWord{Mode::kCalltree}, kNoCommand,
     "record the call tree with counts only"},
    {"TRACE", "CALLTRACE GENERIC", "", "", ModeWord{Mode::kTrace}, kNoCommand,
     "record entries and exits in order"},
    {"SCS", "", "--event", "[=E=N+E]", ModeWord{Mode::kScs}, kScsCommand,
     "sample stacks at these events (default TIME; SCS.md has the JVM's, `jprof metrics --events` "
     "others); --event is repeatable"},
    {"TPROF", "", "", "", Flag{&O::jit_log}, kNoCommand,
     "write the log of jitted code for `jprof tprof`; alone, or with one of the modes"},
    {"CODE", "", "", "", Flag{&O::jit_code}, kNoCommand,
     "with TPROF: the log has the instructions, too"},
    {"METRICS", "", "--metrics", "A+B", List{&O::metrics, kMostMetrics}, kCallflowCommand,
     "what to measure (default time; `jprof metrics` lists what there is)"},
    {"SCS_RATE", "", "--rate", "N", Rate{.sample = false}, kScsCommand,
     "stacks for each second of a thread's CPU time"},
    {"SAMPLE", "", "--sample", "[=N]", Rate{.sample = true}, kCalltreeCommand,
     "also N samples a second of CPU time: exact calls, sampled time"},
    {"FORCE_RATE", "", "--force-rate", "", Flag{&O::force_rate}, kSampleCommands,
     "keep the rate even where an interrupt takes more than a fifth of the time between two"},
    {"INTERRUPT_NS", "", "", "N", Number{&O::interrupt_ns, ptm::kMostInterruptNs}, kNoCommand,
     "what an interrupt costs here, in ns, as `jprof calibrate` measures it"},
    {"TIMER", "", "--timer", "T", Choice<ptm::TimerSource>{&O::timer, kTimers}, kSampleCommands,
     "what counts CPU time: auto (perf where it can be had), perf or posix"},
    {"OBJECTINFO", "", "--objects", "", Flag{&O::object_info}, kScsCommand,
     "the class of the allocated or locked object as a leaf"},
    {"JAVA_ONLY", "", "--java-only", "", Flag{&O::java_only}, kScsCommand,
     "no native and kernel frames"},
    {"START", "", "", "", Flag{&O::start}, kNoCommand, "sample from the start (the default)"},
    {"NOSTART", "", "--nostart", "", Flag{&O::start, false}, kScsCommand,
     "sample when `jprof ctl PID start` says so"},
    {"DELAY", "", "--delay", "S", Number{&O::delay, kMostSeconds}, kScsCommand,
     "begin to sample after S seconds"},
    {"DURATION", "", "--duration", "S", Number{&O::duration, kMostSeconds}, kScsCommand,
     "stop sampling after S seconds; the program goes on"},
    {"THREADS", "", "--threads", "F", Patterns{&O::threads, Names::kThreads}, kAllCommands,
     "threads to record: +name or -name, trailing * for any rest"},
    {"CLASSMETHODS", "METHODS", "--methods", "F", Patterns{&O::methods, Names::kMethods},
     kProbeCommands, "methods to record: +pkg/Class.method or -pkg/Class*"},
    {"FOCUS", "", "--focus", "F", Patterns{&O::focus, Names::kMethods}, kProbeCommands,
     "probe only these, all else runs at full speed: com.acme.*-com.acme.util.*, or app (all but "
     "the JDK)"},
    {"KEEP_INTRINSICS", "", "--keep-intrinsics", "", Flag{&O::keep_intrinsics}, kProbeCommands,
     "with a focus: inlining and intrinsics also inside these methods"},
    {"TREE_MEMORY", "", "--tree-memory", "N", Size{&O::tree_memory, kMega, kMostTree},
     kTreeCommands, "cap of the call tree; from half of it on recursion is folded"},
    {"FOLD_RECURSION", "", "--fold-recursion", "", Flag{&O::fold_recursion}, kTreeCommands,
     "a method already on the path returns to that node: a smaller tree"},
    {"TRACE_MODE", "", "--mode", "M", Choice<TraceMode>{&O::trace_mode, kTraceModes}, kTraceCommand,
     "normal (stop when full), wrap (keep the last of each thread) or continuous (compressed to "
     "disk)"},
    {"TRACE_MEMORY", "", "--trace-memory", "N", Size{&O::trace_memory, 64 * kKilo, kMostTrace},
     kTraceCommand, "memory of the trace, per thread"},
    {"PROBE", "", "--probe", "P", Choice<ProbeChoice>{&O::probe, kProbes}, kProbeCommands,
     "where events come from: auto, hotspot or jvmti"},
    {"CHILDREN", "", "--children", "", Flag{&O::children}, kAllCommands,
     "also the JVMs that the command starts, one profile each: OUT.PID where OUT is taken"},
    {"ONCE", "", "", "", Flag{&O::only_if_free}, kNoCommand,
     "record nothing, and say nothing, if OUT exists already"},
    {"TRAIN", "", "", "", Flag{&O::train}, kNoCommand,
     "also write what `jprof calibrate` learns from"},
    {"VERBOSE", "", "", "", Flag{&O::verbose}, kNoCommand, "say what is done"},
    {"HELP", "", "", "", Flag{&O::help}, kNoCommand, "print this list; the JVM does not start"},
};

bool SameWord(std::string_view a, std::string_view b) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  return std::ranges::equal(a, b, {}, upper, upper);
}

bool IsNamed(const Option& option, std::string_view word) {
  if (SameWord(option.word, word)) return true;
  return std::ranges::any_of(std::views::split(option.aliases, ' '), [&](auto alias) {
    return !alias.empty() && SameWord(std::string_view(alias), word);
  });
}

}  // namespace

std::span<const Option> OptionTable() { return kOptions; }

const Option* FindOption(std::string_view word) {
  const auto found =
      std::ranges::find_if(kOptions, [&](const Option& option) { return IsNamed(option, word); });
  return found == std::end(kOptions) ? nullptr : found;
}

Commands CommandOf(Mode mode) {
  switch (mode) {
    case Mode::kCalltree:
      return kCalltreeCommand;
    case Mode::kCallflow:
      return kCallflowCommand;
    case Mode::kTrace:
      return kTraceCommand;
    case Mode::kScs:
      return kScsCommand;
    case Mode::kTprof:
      break;
  }
  return kNoCommand;
}

std::string_view NameOf(const Option& option, Interface interface) {
  if (interface == Interface::kAgentString || option.flag.empty()) return option.word;
  return option.flag.substr(option.flag.rfind(',') + 1);
}

}  // namespace jprof::agent
