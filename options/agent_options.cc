#include "options/agent_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "common/nearest.h"
#include "options/filter.h"

namespace jprof::agent {
namespace {

using Done = Result<void>;
constexpr size_t kMaxMetrics = 8;
constexpr uint64_t kKilo = 1024, kMega = 1024 * kKilo, kGiga = 1024 * kMega;
constexpr uint64_t kLeastTree = kMega, kMostTree = 256 * kGiga;  // 2^32 nodes of 64 bytes
constexpr uint64_t kLeastTrace = 64 * kKilo, kMostTrace = 64 * kGiga;

bool SameWord(std::string_view a, std::string_view b) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  return std::ranges::equal(a, b, {}, upper, upper);
}

// The index of `value` among `choices`.
Result<size_t> Choose(std::string_view option, std::string_view value,
                      std::span<const std::string_view> choices) {
  const auto found =
      std::ranges::find_if(choices, [&](auto choice) { return SameWord(value, choice); });
  if (found != choices.end()) return found - choices.begin();
  const auto nearest = Nearest(value, choices);
  return WrongUse("{}: there is no '{}'; {}", option, value,
                  nearest ? fmt::format("did you mean {}?", *nearest)
                          : fmt::format("choose one of {}", fmt::join(choices, ", ")));
}

// Bytes, or with K, M, G in units of 1024.
std::optional<uint64_t> ParseSize(std::string_view value) {
  constexpr std::string_view kUnits = "KMG";
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc()) return std::nullopt;
  const std::string_view rest(end, value.data() + value.size() - end);
  if (rest.empty()) return number;
  const size_t unit = kUnits.find(static_cast<char>(rest[0] & ~0x20));
  if (rest.size() != 1 || unit == std::string_view::npos) return std::nullopt;
  const int shift = 10 * static_cast<int>(unit + 1);
  if (number >> (64 - shift) != 0) return std::nullopt;
  return number << shift;
}

std::string SizeText(uint64_t bytes) {
  if (bytes % kGiga == 0) return fmt::format("{}G", bytes / kGiga);
  if (bytes % kMega == 0) return fmt::format("{}M", bytes / kMega);
  if (bytes % kKilo == 0) return fmt::format("{}K", bytes / kKilo);
  return fmt::format("{}", bytes);
}

Done SetSize(std::string_view option, std::string_view value, uint64_t least, uint64_t most,
             uint64_t& into) {
  const auto size = ParseSize(value);
  if (!size || *size < least || *size > most) {
    return WrongUse("{}: '{}' is not a size from {} to {} (bytes, or with K, M or G)", option,
                    value, SizeText(least), SizeText(most));
  }
  into = *size;
  return {};
}

// The written order is the order of the enumerators.
constexpr std::string_view kTraceModes[] = {"normal", "wrap", "continuous"};
constexpr std::string_view kProbes[] = {"auto", "hotspot", "jvmti"};
constexpr std::string_view kTimers[] = {"auto", "perf", "posix"};
constexpr std::string_view kModes[] = {"CALLTREE", "CALLFLOW", "TRACE", "TPROF", "SCS"};

Done SetNumber(std::string_view option, std::string_view value, uint64_t most, auto& into) {
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc() || end != value.data() + value.size() || number == 0 ||
      number > most) {
    return WrongUse("{}: '{}' is not a whole number from 1 to {}", option, value, most);
  }
  into = static_cast<std::remove_reference_t<decltype(into)>>(number);
  return {};
}

template <typename T, typename U>
Done Store(Result<T> value, U& into) {
  if (!value) return std::unexpected(value.error());
  into = static_cast<U>(*std::move(value));
  return {};
}

Done SetMetrics(AgentOptions& o, std::string_view value) {
  auto metrics = ParseList("METRICS", value);
  if (!metrics) return std::unexpected(metrics.error());
  if (metrics->size() > kMaxMetrics) {
    return WrongUse("METRICS: {} metrics are named; {} at most", metrics->size(), kMaxMetrics);
  }
  for (auto it = metrics->begin(); it != metrics->end(); ++it) {
    if (std::find(metrics->begin(), it, *it) != it)
      return WrongUse("METRICS: '{}' is named twice", *it);
  }
  o.metrics = *std::move(metrics);
  return {};
}

using ptm::kMostRate;
constexpr uint64_t kMostSeconds = 1'000'000;

Done SetScs(AgentOptions& o, std::string_view value) {
  o.mode = Mode::kScs;
  if (value.empty()) return {};
  return Store(ParseTriggers(value), o.triggers);
}
Done SetSample(AgentOptions& o, std::string_view value) {
  o.triggers = {Trigger{}};
  return value.empty() ? Done() : SetNumber("SAMPLE", value, kMostRate, o.rate);
}

enum class Value { kNone, kWanted, kMayBe };
struct Word {
  std::string_view name;
  Value takes_value;
  Done (*apply)(AgentOptions&, std::string_view value);
};

// In the order of AgentHelp(). A word that is known but not built yet has no `apply`.
constexpr Word kWords[] = {
    {"CALLFLOW", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.mode = Mode::kCallflow, Done(); }},
    {"CALLTREE", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.mode = Mode::kCalltree, Done(); }},
    {"TRACE", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.mode = Mode::kTrace, Done(); }},
    {"CALLTRACE", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.mode = Mode::kTrace, Done(); }},
    {"GENERIC", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.mode = Mode::kTrace, Done(); }},
    {"TPROF", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.jit_log = true, Done(); }},
    {"CODE", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.jit_code = true, Done(); }},
    {"OUT", Value::kWanted,
     [](AgentOptions& o, std::string_view v) { return Store(Decode("OUT", v), o.out); }},
    {"LOGPATH", Value::kWanted,
     [](AgentOptions& o, std::string_view v) { return Store(Decode("LOGPATH", v), o.out); }},
    {"METRICS", Value::kWanted, SetMetrics},
    {"THREADS", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return Store(ParseFilter("THREADS", v, Names::kThreads), o.threads);
     }},
    {"CLASSMETHODS", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return Store(ParseFilter("CLASSMETHODS", v, Names::kMethods), o.methods);
     }},
    {"METHODS", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return Store(ParseFilter("METHODS", v, Names::kMethods), o.methods);
     }},
    {"FOCUS", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return Store(ParseFilter("FOCUS", v, Names::kMethods), o.focus);
     }},
    {"KEEP_INTRINSICS", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.keep_intrinsics = true, Done(); }},
    {"TREE_MEMORY", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return SetSize("TREE_MEMORY", v, kLeastTree, kMostTree, o.tree_memory);
     }},
    {"FOLD_RECURSION", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.fold_recursion = true, Done(); }},
    {"TRACE_MODE", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return Store(Choose("TRACE_MODE", v, kTraceModes), o.trace_mode);
     }},
    {"TRACE_MEMORY", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return SetSize("TRACE_MEMORY", v, kLeastTrace, kMostTrace, o.trace_memory);
     }},
    {"PROBE", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return Store(Choose("PROBE", v, kProbes), o.probe);
     }},
    {"ONCE", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.only_if_free = true, Done(); }},
    {"CHILDREN", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.children = true, Done(); }},
    {"TRAIN", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.train = true, Done(); }},
    {"START", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.start = true, Done(); }},
    {"NOSTART", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.start = false, Done(); }},
    {"VERBOSE", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.verbose = true, Done(); }},
    {"HELP", Value::kNone, [](AgentOptions& o, std::string_view) { return o.help = true, Done(); }},
    {"SCS", Value::kMayBe, SetScs},
    {"SAMPLE", Value::kMayBe, SetSample},
    {"SCS_RATE", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return SetNumber("SCS_RATE", v, kMostRate, o.rate);
     }},
    {"FORCE_RATE", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.force_rate = true, Done(); }},
    {"INTERRUPT_NS", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return SetNumber("INTERRUPT_NS", v, ptm::kMostInterruptNs, o.interrupt_ns);
     }},
    {"TIMER", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return Store(Choose("TIMER", v, kTimers), o.timer);
     }},
    {"OBJECTINFO", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.object_info = true, Done(); }},
    {"JAVA_ONLY", Value::kNone,
     [](AgentOptions& o, std::string_view) { return o.java_only = true, Done(); }},
    {"DELAY", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return SetNumber("DELAY", v, kMostSeconds, o.delay);
     }},
    {"DURATION", Value::kWanted,
     [](AgentOptions& o, std::string_view v) {
       return SetNumber("DURATION", v, kMostSeconds, o.duration);
     }},
};

std::unexpected<Error> Unknown(std::string_view name) {
  std::array<std::string_view, std::size(kWords)> names;
  std::ranges::transform(kWords, names.begin(), &Word::name);
  const auto nearest = Nearest(name, names);
  return WrongUse(
      "there is no option '{}'; {}", name,
      nearest ? fmt::format("did you mean {}?", *nearest) : "the option HELP lists them all");
}

Done ApplyOne(AgentOptions& options, std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto word =
      std::ranges::find_if(kWords, [&](const Word& w) { return SameWord(w.name, name); });
  if (word == std::end(kWords)) return Unknown(name);
  if (word->takes_value == Value::kNone && equals != std::string_view::npos) {
    return WrongUse("{} takes no value; leave '{}' out", word->name, text.substr(equals));
  }
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (word->takes_value == Value::kWanted && value.empty())
    return WrongUse("{0} needs a value: {0}=...", word->name);
  return word->apply(options, value);
}

// Words that make no sense together.
Done Check(const AgentOptions& o) {
  if (o.mode == Mode::kCalltree && !o.metrics.empty()) {
    return WrongUse("METRICS: CALLTREE only counts; use CALLFLOW for metrics");
  }
  if (o.jit_code && !o.jit_log) {
    return WrongUse("CODE: only the log of jitted code has it; add TPROF");
  }
  const bool sampling = o.mode == Mode::kScs || !o.triggers.empty();
  if (o.mode != Mode::kScs && o.mode != Mode::kCalltree && sampling) {
    return WrongUse("SAMPLE: only the tree of CALLTREE takes samples; add CALLTREE, or use SCS");
  }
  if (!sampling && (!o.start || o.delay != 0 || o.duration != 0)) {
    return WrongUse("{}: only sampling starts and stops; use SCS", !o.start       ? "NOSTART"
                                                                   : o.delay != 0 ? "DELAY"
                                                                                  : "DURATION");
  }
  if (!sampling && (o.force_rate || o.timer != ptm::TimerSource::kAny)) {
    return WrongUse("{}: only sampling has timers; use SCS, or SAMPLE",
                    o.force_rate ? "FORCE_RATE" : "TIMER");
  }
  if (o.object_info && o.mode != Mode::kScs)
    return WrongUse("OBJECTINFO: only samples have it; use SCS");
  if (o.keep_intrinsics && o.focus.Empty()) return WrongUse("KEEP_INTRINSICS: only with FOCUS");
  if (o.mode == Mode::kScs &&
      (!o.metrics.empty() || !o.methods.Empty() || !o.focus.Empty() || o.train)) {
    return WrongUse("{}: SCS takes whole stacks, at events; leave it out",
                    !o.metrics.empty() ? "METRICS"
                    : o.train          ? "TRAIN"
                    : !o.focus.Empty() ? "FOCUS"
                                       : "CLASSMETHODS");
  }
  if (o.mode != Mode::kTprof) return {};
  const std::string_view idle = !o.metrics.empty()   ? "METRICS"
                                : !o.threads.Empty() ? "THREADS"
                                : !o.methods.Empty() ? "CLASSMETHODS"
                                : !o.focus.Empty()   ? "FOCUS"
                                : o.train            ? "TRAIN"
                                                     : "";
  if (idle.empty()) return {};
  return WrongUse("{}: TPROF alone records no calls; add CALLFLOW", idle);
}

// No timer so fast that its interrupts take the program's time.
void LimitTimers(AgentOptions& o) {
  for (Trigger& trigger : o.triggers) {
    if (trigger.kind == TriggerKind::kTime && trigger.every == 0)
      trigger.every = 1'000'000'000 / o.rate;
    if (!IsClock(trigger)) continue;
    const uint64_t rate = ptm::RateOf(trigger.every);
    const auto limited = ptm::LimitRate(rate, o.interrupt_ns, o.force_rate);
    if (limited.rate == rate) continue;
    trigger.asked = std::exchange(trigger.every, 1'000'000'000 / limited.rate);
    o.lowered.push_back(limited.reason);
  }
}

}  // namespace

Result<AgentOptions> ParseAgentOptions(std::string_view options, std::string_view environment) {
  AgentOptions parsed;
  parsed.mode = Mode::kTprof;  // until a word says another
  parsed.text = options;
  if (!options.empty() && !environment.empty()) parsed.text += ',';
  parsed.text += environment;
  for (const auto part : std::views::split(std::string_view(parsed.text), ',')) {
    if (part.empty()) continue;
    if (Done done = ApplyOne(parsed, std::string_view(part)); !done)
      return std::unexpected(done.error());
  }
  if (parsed.mode == Mode::kTprof && !parsed.jit_log) parsed.mode = Mode::kCallflow;
  if (Done done = Check(parsed); !done) return std::unexpected(done.error());
  if (parsed.mode == Mode::kScs && parsed.triggers.empty()) parsed.triggers = {Trigger{}};
  if (parsed.timer != ptm::TimerSource::kAny &&
      std::ranges::find(parsed.triggers, TriggerKind::kTime, &Trigger::kind) ==
          parsed.triggers.end()) {
    return WrongUse("TIMER: nothing is sampled by CPU time here; add TIME");
  }
  LimitTimers(parsed);
  return parsed;
}

uint64_t AskedRate(const AgentOptions& options) {
  uint64_t most = 0;
  for (const Trigger& trigger : options.triggers) {
    if (!IsClock(trigger)) continue;
    most = std::max(most, ptm::RateOf(trigger.asked != 0 ? trigger.asked : trigger.every));
  }
  return most;
}

std::string ToString(const AgentOptions& o) {
  const AgentOptions defaults;
  std::string text(kModes[static_cast<int>(o.mode)]);
  if (o.mode == Mode::kScs && !o.triggers.empty()) text += "=" + ToString(o.triggers);
  const auto add = [&](bool wanted, std::string_view name, std::string_view value = "") {
    if (!wanted) return;
    text += fmt::format(",{}{}{}", name, value.empty() ? "" : "=", value);
  };
  const auto encoded =
      o.metrics | std::views::transform([](const auto& metric) { return Encode(metric); });
  add(o.jit_log && o.mode != Mode::kTprof, "TPROF");
  add(o.jit_code, "CODE");
  add(!o.out.empty(), "OUT", Encode(o.out));
  add(!o.metrics.empty(), "METRICS", fmt::format("{}", fmt::join(encoded, "+")));
  add(!o.threads.Empty(), "THREADS", ToString(o.threads));
  add(!o.methods.Empty(), "CLASSMETHODS", ToString(o.methods));
  add(!o.focus.Empty(), "FOCUS", ToString(o.focus));
  add(o.keep_intrinsics, "KEEP_INTRINSICS");
  add(o.tree_memory != defaults.tree_memory, "TREE_MEMORY", SizeText(o.tree_memory));
  add(o.fold_recursion, "FOLD_RECURSION");
  add(o.trace_mode != defaults.trace_mode, "TRACE_MODE",
      kTraceModes[static_cast<int>(o.trace_mode)]);
  add(o.trace_memory != defaults.trace_memory, "TRACE_MEMORY", SizeText(o.trace_memory));
  add(o.probe != defaults.probe, "PROBE", kProbes[static_cast<int>(o.probe)]);
  add(o.only_if_free, "ONCE");
  add(o.children, "CHILDREN");
  add(o.mode == Mode::kCalltree && !o.triggers.empty(), "SAMPLE", fmt::format("{}", o.rate));
  add(o.mode == Mode::kScs && o.rate != defaults.rate, "SCS_RATE", fmt::format("{}", o.rate));
  add(o.force_rate, "FORCE_RATE");
  add(o.interrupt_ns != 0, "INTERRUPT_NS", fmt::format("{}", o.interrupt_ns));
  add(o.timer != defaults.timer, "TIMER", kTimers[static_cast<int>(o.timer)]);
  add(o.object_info, "OBJECTINFO");
  add(o.java_only, "JAVA_ONLY");
  add(o.delay != 0, "DELAY", fmt::format("{}", o.delay));
  add(o.duration != 0, "DURATION", fmt::format("{}", o.duration));
  add(o.train, "TRAIN");
  add(!o.start, "NOSTART");
  add(o.verbose, "VERBOSE");
  add(o.help, "HELP");
  return text;
}

std::string_view AgentHelp() {
  return R"(-agentpath:libjprof.so=WORD,WORD=VALUE,...     (words in any case; JPROFOPTS is appended)
  CALLFLOW            the call tree with counts and metrics (default)
  CALLTREE            the call tree with counts only
  TRACE               entries and exits in order; also CALLTRACE, GENERIC
  SCS[=E=N+...]       stacks, each so much CPU time, or at events (below)
  TPROF               a log of jitted code for `jprof tprof`; alone, or with one of the above
  CODE                that log has the instructions, too
  OUT=DIR             where the profile goes (default jprof-PID.jprof); also LOGPATH=
  METRICS=A+B         up to 8 metrics (default time); `jprof metrics` lists them
  THREADS=F           threads to record: +name or -name, a trailing * matches any rest
  CLASSMETHODS=F      methods to record: +pkg/Class.method or -pkg/Class*; also METHODS=
  FOCUS=F             only these are compiled with probes, the rest runs at full speed; app: all but the JDK
  KEEP_INTRINSICS     with FOCUS: C2 inlines the rest into these and uses intrinsics there
  TREE_MEMORY=N       cap of the tree (default 512M); half full, recursion is folded
  FOLD_RECURSION      a method already on the path returns to that node
  TRACE_MODE=M        normal (stop when full), wrap (keep the last) or continuous
  TRACE_MEMORY=N      per thread (default 64M)
  PROBE=P             auto, hotspot or jvmti
  ONCE                record nothing if OUT exists already
  CHILDREN            several JVMs share these options: each makes OUT.PID if OUT is taken
  TRAIN               also write what jprof calibrate learns from
  SCS_RATE=N          stacks a second of CPU time (default 100; up to 20000)
  SAMPLE[=N]          with CALLTREE: N samples a second go to its current contexts
  FORCE_RATE          ... even where an interrupt of a timer takes more than a fifth of the time between two
  INTERRUPT_NS=N      what an interrupt costs here, as `jprof calibrate` measures it (default 40000)
  TIMER=T             what counts CPU time: perf, posix, or auto (perf where it can be had)
  OBJECTINFO          with SCS: the class of the object as a leaf below the stack
  JAVA_ONLY           with SCS: no native and kernel frames
  START, NOSTART      sample from the start (default), or when `jprof ctl` says so
  DELAY=S             ... after S seconds
  DURATION=S          ... for S seconds
  VERBOSE             say what is done
  HELP                print this
  In values %XX is the byte of that number: %2C a comma, %2B a plus, %25 a percent sign.
)";
}

}  // namespace jprof::agent
