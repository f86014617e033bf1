#include "options/option_table.h"

#include <algorithm>
#include <ranges>

#include "options/label_methods.h"
#include "options/slow_methods.h"
#include "profile/files/sparse_time.h"
#include "ptm/sampling_rate.h"

namespace jprof::options {
namespace {

using O = AgentOptions;

constexpr uint64_t kKilo = 1024, kMega = 1024 * kKilo, kGiga = 1024 * kMega;
constexpr uint64_t kMostTree = 227 * kGiga;  // 2^32 nodes of 64 bytes, less a ninth in reserve
constexpr uint64_t kMostTrace = 64 * kGiga;
constexpr uint64_t kMostSeconds = 1'000'000;
constexpr uint64_t kMostCalls = 1'000'000'000'000'000;
constexpr uint64_t kLongestFile = 7 * 86'400;  // seconds
constexpr uint64_t kMostFiles = 10'000;

// The names are in the order of the enumerators.
constexpr std::string_view kTraceModes[] = {"normal", "wrap", "continuous"};
constexpr std::string_view kProbes[] = {"auto", "hotspot", "jvmti"};
constexpr std::string_view kCounters[] = {"auto", "woven", "probe"};
constexpr std::string_view kChildren[] = {"auto", "no", "first", "all"};
constexpr std::string_view kHooks[] = {"auto", "no", "yes"};
constexpr std::string_view kLive[] = {"no", "sampled", "exact"};
constexpr std::string_view kTimers[] = {"auto", "perf", "posix"};

// The options are in the order of HELP. Each has a name, aliases, flag, argument, target, commands
// and help.
constexpr Option kOptions[] = {
    {"OUT", "LOGPATH", "-o,--out", "DIR", Path{&O::out}, kAllCommands,
     "directory of the profile (default: jprof-PID.jprof; with a command, NAME.jprof after the "
     "main class or jar)"},
    {"CALLFLOW", "", "", "", ModeOption{Mode::kCallflow}, kNoCommand,
     "record the call tree with counts and metrics (the default mode)"},
    {"CALLTREE", "", "", "", ModeOption{Mode::kCalltree}, kNoCommand,
     "record the call tree with counts only"},
    {"TRACE", "CALLTRACE GENERIC", "", "", ModeOption{Mode::kTrace}, kNoCommand,
     "record entries and exits in order"},
    {"SCS", "", "--event", "[=E=N+E]", ModeOption{Mode::kScs}, kScsCommand,
     "sample stacks at these events (default TIME; events of the JVM: docs/SAMPLING.md; others: "
     "`jprof metrics --events`); --event is repeatable"},
    {"LOCKS", "", "", "", ModeOption{Mode::kLocks}, kNoCommand,
     "count locks in the call tree: who takes which one, who waits for whom"},
    {"LITE", "", "--lite", "", Flag{&O::lite}, kLocksCommand,
     "do not measure how long locks are held, which costs most"},
    {"OBJECTS", "", "", "", ModeOption{Mode::kObjects}, kNoCommand,
     "record the call tree with counts, and all allocated objects by class"},
    {"LIVE", "", "--live", "W", Choice<Live>{&O::live, kLive}, kObjectsCommand,
     "also count the objects that still exist: exact (each one), sampled (estimated from some of "
     "them; next to no cost) or no"},
    {"SNAPSHOTS", "", "--snapshots", "S", Seconds{&O::snapshots, kMostSeconds}, kObjectsCommand,
     "with LIVE: count them every S seconds (30, 30s, 5m), not only at the end; each time the JVM "
     "collects all garbage first"},
    {"LIVE_INTERVAL", "", "--live-interval", "N", Size{&O::live_interval, 64, kGiga},
     kObjectsCommand, "with LIVE=sampled: follow one object in N bytes on average", kRarelyNeeded},
    {"REMOVED", "", "--removed", "", Flag{&O::removed}, kObjectsCommand,
     "also count what the bytecode asks for: the difference is what compilers have removed "
     "(docs/OBJECTS.md)"},
    {"TPROF", "", "", "", Flag{&O::jit_log}, kNoCommand,
     "write the log of jitted code for `jprof tprof`; alone or with one of the modes"},
    {"CODE", "", "", "", Flag{&O::jit_code}, kNoCommand,
     "with TPROF: also log the instructions of jitted code"},
    {"EVENTS", "", "--jvm-events", "", Flag{&O::jvm_events}, kCalltreeCommand | kCallflowCommand,
     "also write what the JVM does over time to a trace in events/jvm: collections, compilations, "
     "waits and more (docs/EVENTS.md)"},
    {"METRICS", "", "--metrics", "A+B", List{&O::metrics, kMostMetrics}, kCallflowCommand,
     "metrics to measure (default time; `jprof metrics` lists them)"},
    {"SCS_RATE", "", "--rate", "N", Rate{.sample = false}, kScsCommand,
     "samples per second of a thread's CPU time"},
    {"SAMPLE", "", "--sample", "[=N]", Rate{.sample = true}, kCalltreeCommand,
     "also take N samples per second of CPU time: exact call counts, sampled time"},
    {"FORCE_RATE", "", "--force-rate", "", Flag{&O::force_rate}, kSampleCommands,
     "keep the rate even if interrupts take more than a fifth of the time", kRarelyNeeded},
    {"INTERRUPT_NS", "", "", "N", Number{&O::interrupt_ns, ptm::kMostInterruptNs}, kNoCommand,
     "cost of an interrupt on this machine in ns, as measured by `jprof calibrate`"},
    {"TIMER", "", "--timer", "T", Choice<ptm::TimerSource>{&O::timer, kTimers}, kSampleCommands,
     "source of CPU time: auto (perf if available), perf or posix", kRarelyNeeded},
    {"OBJECTINFO", "", "--objects", "", Flag{&O::object_info}, kScsCommand,
     "add the class of the allocated or locked object as a leaf", kWhatIsRecorded},
    {"JAVA_ONLY", "", "--java-only", "", Flag{&O::java_only}, kScsCommand,
     "omit native and kernel frames", kWhatIsRecorded},
    {"NAME_AT_SAMPLE", "", "--name-at-sample", "", Flag{&O::name_at_sample}, kScsCommand,
     "a row for each name that a thread had when it was sampled (its first 15 bytes)",
     kRarelyNeeded},
    {"START", "", "", "", Flag{&O::start}, kNoCommand, "record from the start (the default)"},
    {"NOSTART", "", "--nostart", "", Flag{&O::start, false}, kScsCommand | kProbeCommands,
     "begin paused: record nothing before `jprof ctl PID start`, or before the program calls "
     "Recording.start() (docs/TRIGGERS.md); with samples, only these are paused",
     kRarelyNeeded},
    {"DELAY", "", "--delay", "S", Seconds{&O::delay, kMostSeconds}, kScsCommand,
     "start sampling after S seconds", kRarelyNeeded},
    {"DURATION", "", "--duration", "S", Seconds{&O::duration, kMostSeconds}, kScsCommand,
     "stop sampling after S seconds; the program continues"},
    {"THREADS", "", "--threads", "F", Patterns{&O::threads, Names::kThreads}, kAllCommands,
     "threads to record: +name or -name; a * at the end matches any remainder", kWhatIsRecorded},
    {"CLASSMETHODS", "METHODS", "--methods", "F", Patterns{&O::methods, Names::kMethods},
     kCallCommands, "methods to record: packages, classes or methods: com.acme,-com.acme.util",
     kWhatIsRecorded},
    {"FOCUS", "", "--focus", "F", Patterns{&O::focus, Names::kMethods}, kCallCommands,
     "methods to probe, all others run without probes: packages, classes or methods "
     "(com.acme,-com.acme.util), or app (all but the JDK)",
     kWhatIsRecorded},
    {"DISTRIBUTION", "", "--distribution", "F", Patterns{&O::distribution, Names::kMethods, true},
     kCallflowCommand,
     "methods whose calls to time one by one: packages, classes or methods "
     "(com.acme.Cart.total); `jprof report distribution` prints how long they took",
     kWhatIsRecorded},
    {"TIME_EVERY", "", "--time-every", "N", Number{&O::time_every, profile::kMostTimeEvery},
     kCallflowCommand,
     "read the clock for about one interval in N of each context that is entered often, instead of "
     "all: counts are exact, times are estimates with an error, and the program runs faster "
     "(16 is a good start)",
     kWhatIsRecorded},
    {"WITHIN", "", "--within", "F", Patterns{&O::within, Names::kMethods, true}, kProbeCommands,
     "methods outside of which nothing is recorded: only these and what they call, on the thread "
     "that calls them: packages, classes or methods (com.acme.Server.handle; docs/TRIGGERS.md)",
     kWhatIsRecorded},
    {"AFTER", "", "--after", "N", Number{&O::after, kMostCalls}, kProbeCommands,
     "with --within: leave out the first N calls of these methods, of all threads together, such "
     "as a warm-up",
     kWhatIsRecorded},
    {"KEEP_INTRINSICS", "", "--keep-intrinsics", "", Flag{&O::keep_intrinsics}, kProbeCommands,
     "let the JVM use intrinsics, its own code for some methods: calls that they replace are not "
     "counted; with a focus, also let it inline into these methods",
     kRarelyNeeded},
    {"TREE_MEMORY", "", "--tree-memory", "N", Size{&O::tree_memory, kMega, kMostTree},
     kTreeCommands, "memory limit of the call tree; above half of it, recursion is folded",
     kMemory},
    {"FOLD_RECURSION", "", "--fold-recursion", "", Flag{&O::fold_recursion}, kTreeCommands,
     "fold recursion: a recursive call returns to the existing node, which makes the tree smaller",
     kMemory},
    {"CALL_SITES", "", "--call-sites", "", Flag{&O::call_sites}, kCalltreeCommand,
     "two calls of a method at different places in one caller are two contexts, with their source "
     "lines",
     kWhatIsRecorded},
    {"LABEL_FROM", "", "--label-from", "METHOD[:ARG]+...", List{&O::label_from, kMostLabelMethods},
     kCallCommands,
     "with woven counting: these methods set a label, which is the text of their argument ARG "
     "(default 1); calls below it are apart (docs/LABELS.md)",
     kWhatIsRecorded},
    {"TRACE_MODE", "", "--mode", "M", Choice<TraceMode>{&O::trace_mode, kTraceModes}, kTraceCommand,
     "normal (stop when full), wrap (keep the latest events of each thread) or continuous "
     "(compressed to disk)"},
    {"TRACE_MEMORY", "", "--trace-memory", "N", Size{&O::trace_memory, 64 * kKilo, kMostTrace},
     kTraceCommand, "memory limit of the trace, per thread", kMemory},
    {"SLOW", "", "--slow", "METHOD:TIME+...", List{&O::slow, kMostSlowMethods}, kTraceCommand,
     "keep of the trace only what belongs to calls of these methods that last at least TIME (10ms, "
     "500us, 2s) by the clock on the wall, and what led to them; `jprof report slow` prints them "
     "(docs/TRIGGERS.md)",
     kWhatIsRecorded},
    {"SLOW_MEMORY", "", "--slow-memory", "N", Size{&O::slow_memory, 64 * kKilo, kMostTrace},
     kTraceCommand, "with --slow: limit of what is kept, for all threads together", kMemory},
    {"ROTATE", "", "--rotate", "LENGTH", Seconds{&O::rotate, kLongestFile}, kTraceCommand,
     "with --mode continuous: begin a new file of the trace every LENGTH (10m, 1h; a number alone "
     "is in seconds)"},
    {"KEEP", "", "--keep", "N", Number{&O::keep, kMostFiles}, kTraceCommand,
     "with --rotate: keep the last N files, and with them the latest events (default: all)"},
    {"COUNTER", "", "--counter", "C", Choice<Counter>{&O::counter, kCounters},
     kCalltreeCommand | kObjectsCommand,
     "what counts calls: probe (HotSpot's probes), woven (the methods themselves: inlining and "
     "intrinsics are kept), or auto (docs/WOVEN.md)",
     kRarelyNeeded},
    {"PROBE", "", "--probe", "P", Choice<ProbeChoice>{&O::probe, kProbes}, kProbeCommands,
     "how calls are seen: hotspot (HotSpot's own probes, fast), jvmti (slow, for a JVM without "
     "them) or auto",
     kRarelyNeeded},
    {"HOOKS", "", "--hooks", "W", Choice<Hooks>{&O::hooks, kHooks}, kProbeCommands,
     "record C and C++ functions that were compiled with hooks, such as -finstrument-functions "
     "(docs/HOOKS.md): no, yes, or auto: if the program itself has hooks",
     kWhatIsRecorded},
    {"CHILDREN", "", "--children", "[=W]", Choice<Children>{&O::children, kChildren}, kAllCommands,
     "which JVMs of the command to record: no (the java command only), first (the one that starts "
     "first) or all (then the output is a directory with a profile of each); auto: no for java, "
     "else all; "
     "without a value: all",
     kWhatIsRecorded},
    {"ONCE", "", "", "", Flag{&O::only_if_free}, kNoCommand,
     "record nothing and print nothing if OUT exists"},
    {"TRAIN", "", "", "", Flag{&O::train}, kNoCommand,
     "also write the training data for `jprof calibrate`"},
    {"DETACH", "", "", "", Flag{&O::detach}, kNoCommand,
     "in a running JVM: end the recording that began in it, and remove its traces from the JVM"},
    {"REPLY", "", "", "FILE", Path{&O::reply}, kNoCommand,
     "in a running JVM: write the outcome to FILE: ok and values, or the reason of a failure"},
    {"VERBOSE", "", "", "", Flag{&O::verbose}, kNoCommand, "report the steps of the agent"},
    {"HELP", "", "", "", Flag{&O::help}, kNoCommand, "print this list; the JVM does not start"},
};

bool SameName(std::string_view a, std::string_view b) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  return std::ranges::equal(a, b, {}, upper, upper);
}

bool IsNamed(const Option& option, std::string_view name) {
  if (SameName(option.name, name)) return true;
  return std::ranges::any_of(std::views::split(option.aliases, ' '), [&](auto alias) {
    return !alias.empty() && SameName(std::string_view(alias), name);
  });
}

}  // namespace

std::span<const Option> OptionTable() { return kOptions; }

const Option* FindOption(std::string_view name) {
  const auto found =
      std::ranges::find_if(kOptions, [&](const Option& option) { return IsNamed(option, name); });
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
    case Mode::kLocks:
      return kLocksCommand;
    case Mode::kObjects:
      return kObjectsCommand;
    case Mode::kTprof:
      break;
  }
  return kNoCommand;
}

std::string_view NameOf(const Option& option, Interface interface) {
  if (interface == Interface::kAgentString || option.flag.empty()) return option.name;
  return option.flag.substr(option.flag.rfind(',') + 1);
}

}  // namespace jprof::options
