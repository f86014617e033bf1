#include "options/agent_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <ranges>
#include <utility>

#include "common/nearest.h"
#include "options/label_methods.h"
#include "options/option_table.h"
#include "ptm/sampling_rate.h"

namespace jprof::options {
namespace {

using OptionNames = std::initializer_list<std::string_view>;

std::unexpected<OptionError> Wrong(const Option& option, std::string problem) {
  return std::unexpected(OptionError{.option = &option, .problem = std::move(problem)});
}

std::unexpected<OptionError> Needs(const Option& option, OptionNames needs,
                                   std::string_view reason = "") {
  OptionError error = {.option = &option, .problem = std::string(reason)};
  for (const std::string_view name : needs) error.needs.push_back(FindOption(name));
  return std::unexpected(std::move(error));
}

std::unexpected<OptionError> Unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : OptionTable()) {
    names.push_back(option.name);
    for (const auto alias : std::views::split(option.aliases, ' '))
      if (!alias.empty()) names.emplace_back(alias);
  }
  const auto nearest = Nearest(name, names);
  return std::unexpected(
      OptionError{.problem = fmt::format("there is no option '{}'; {}", name,
                                         nearest ? fmt::format("did you mean {}?", *nearest)
                                                 : "the option HELP lists all options")});
}

Checked ApplyOption(std::string_view text, AgentOptions& options) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = equals == text.npos ? "" : text.substr(equals + 1);
  const Option* const option = FindOption(name);
  if (option == nullptr) return Unknown(name);
  if (!option->TakesValue() && equals != text.npos)
    return Wrong(*option, fmt::format("takes no value; remove '{}'", text.substr(equals)));
  if (option->NeedsValue() && value.empty())
    return Wrong(*option, fmt::format("needs a value: {}={}", option->name, option->argument));
  return Set(*option, value, Interface::kAgentString, options);
}

// Returns the first of these options that is set, or null if there is none.
const Option* FirstSet(const AgentOptions& options, OptionNames names) {
  for (const std::string_view name : names) {
    const Option* const option = FindOption(name);
    if (ValueOf(*option, options)) return option;
  }
  return nullptr;
}

bool HasTime(const AgentOptions& o) {
  return o.triggers.empty() ||
         std::ranges::count(o.triggers, TriggerKind::kTime, &Trigger::kind) != 0;
}

// Checks options that require sampling.
Checked CheckSampling(const AgentOptions& o) {
  const bool sampling = o.mode == Mode::kScs || !o.triggers.empty();
  if (sampling && o.mode != Mode::kScs && o.mode != Mode::kCalltree) {
    return Needs(*FindOption("SAMPLE"), {"CALLTREE", "SCS"}, "only these take samples");
  }
  if (const Option* given = FirstSet(o, {"NOSTART", "DELAY", "DURATION"}); given && !sampling)
    return Needs(*given, {"SCS", "SAMPLE"}, "only sampling can be started and stopped");
  if (const Option* given = FirstSet(o, {"FORCE_RATE", "TIMER"}); given && !sampling)
    return Needs(*given, {"SCS", "SAMPLE"}, "only sampling has timers");
  if (const Option* given = FirstSet(o, {"TIMER"}); given && o.mode == Mode::kScs && !HasTime(o))
    return Wrong(*given, "no trigger samples by CPU time; add TIME");
  if (o.object_info && o.mode != Mode::kScs) return Needs(*FindOption("OBJECTINFO"), {"SCS"});
  return {};
}

// Checks options that do not apply to methods that count themselves.
Checked CheckCounter(const AgentOptions& o) {
  const Option& counter = *FindOption("COUNTER");
  if (o.counter != Counter::kAuto && o.mode != Mode::kCalltree && o.mode != Mode::kObjects)
    return Needs(counter, {"CALLTREE", "OBJECTS"}, "the others record entries and exits by probes");
  if (o.counter != Counter::kWoven) return {};
  if (const Option* given = FirstSet(o, {"PROBE", "KEEP_INTRINSICS", "TRAIN"}))
    return Wrong(*given, "no probes are used if the methods count themselves; remove it");
  if (o.hooks == Hooks::kYes)
    return Wrong(*FindOption("HOOKS"),
                 "functions of C and C++ are not counted with woven counters");
  if (o.tree_memory > kMostWovenTree)
    return Wrong(*FindOption("TREE_MEMORY"), "woven counters have at most 14G");
  return {};
}

// Checks that calls can be timed one by one.
Checked CheckDistribution(const AgentOptions& o) {
  if (o.distribution.Empty()) return {};
  const Option& distribution = *FindOption("DISTRIBUTION");
  if (o.mode != Mode::kCallflow)
    return Needs(distribution, {"CALLFLOW"}, "the others do not measure how long calls take");
  const auto is_time = [](const std::string& name) {
    return name == "time" || name == "dispatches";
  };
  if (!std::ranges::all_of(o.metrics, is_time))
    return Wrong(distribution,
                 "calls are timed one by one only if time is the one metric; remove the others");
  if (!o.distribution.items.front().include)
    return Wrong(distribution,
                 "name the methods to be timed; patterns that begin with - can only follow");
  if (o.train) return Wrong(distribution, "calls are not timed one by one while TRAIN is on");
  return {};
}

// Checks LABEL_FROM. COUNTER=auto weaves if it is given.
Checked CheckLabels(const AgentOptions& o) {
  if (o.label_from.empty()) return {};
  const Option& option = *FindOption("LABEL_FROM");
  for (const std::string& text : o.label_from) {
    if (const auto method = ParseLabelMethod(text); !method)
      return Wrong(option, method.error().message);
  }
  if (o.mode != Mode::kCalltree && o.mode != Mode::kObjects)
    return Needs(option, {"COUNTER"},
                 "only methods that count themselves set labels from arguments (jprof calltree "
                 "--counter woven)");
  if (const Option* given = FirstSet(o, {"PROBE", "KEEP_INTRINSICS"});
      given || o.counter == Counter::kProbe || o.hooks == Hooks::kYes)
    return Wrong(option,
                 "only methods that count themselves set labels from arguments: use COUNTER=woven "
                 "(--counter woven), without options of probes and hooks");
  if (o.call_sites)
    return Wrong(*FindOption("CALL_SITES"),
                 "call sites and labels exclude each other; remove one of the two");
  return {};
}

// Checks options that the mode does not support.
Checked CheckMode(const AgentOptions& o) {
  if (o.mode == Mode::kCalltree && !o.metrics.empty())
    return Needs(*FindOption("METRICS"), {"CALLFLOW"}, "CALLTREE only counts calls");
  if (o.mode == Mode::kScs) {
    if (const Option* given =
            FirstSet(o, {"METRICS", "TRAIN", "FOCUS", "CLASSMETHODS", "KEEP_INTRINSICS"}))
      return Wrong(*given, "SCS samples whole stacks and does not support this option; remove it");
  }
  if (o.jvm_events && o.mode != Mode::kCalltree && o.mode != Mode::kCallflow)
    return Needs(*FindOption("EVENTS"), {"CALLTREE", "CALLFLOW"});
  if (Checked done = CheckDistribution(o); !done) return done;
  if (o.call_sites && o.mode != Mode::kCalltree)
    return Needs(*FindOption("CALL_SITES"), {"CALLTREE"});
  if (o.call_sites && o.probe == ProbeChoice::kJvmti)
    return Wrong(*FindOption("CALL_SITES"),
                 "JVMTI does not report where a method is called; remove one of the two");
  if (o.call_sites && o.fold_recursion)
    return Wrong(*FindOption("CALL_SITES"),
                 "folded recursion does not know where recursive calls are made; remove one of the "
                 "two");
  if (o.lite && o.mode != Mode::kLocks) return Needs(*FindOption("LITE"), {"LOCKS"});
  if (o.mode == Mode::kLocks) {
    if (const Option* given = FirstSet(
            o, {"METRICS", "TRAIN", "FOCUS", "CLASSMETHODS", "KEEP_INTRINSICS", "PROBE", "HOOKS"}))
      return Wrong(*given, "LOCKS weaves all classes and does not support this option; remove it");
    if (o.tree_memory > kMostWovenTree)
      return Wrong(*FindOption("TREE_MEMORY"), "woven counters have at most 14G");
  }
  if (o.removed && o.mode != Mode::kObjects) return Needs(*FindOption("REMOVED"), {"OBJECTS"});
  if (o.removed && o.counter == Counter::kProbe)
    return Wrong(*FindOption("REMOVED"),
                 "only woven code counts what it asks for; remove it, or the choice of probes");
  if (o.mode == Mode::kObjects) {
    if (const Option* given =
            FirstSet(o, {"METRICS", "TRAIN", "PROBE", "KEEP_INTRINSICS", "HOOKS"}))
      return Wrong(*given,
                   "OBJECTS counts calls and objects and does not support this option; "
                   "remove it");
  }
  if (const Option* given = FirstSet(o, {"LIVE", "SNAPSHOTS", "LIVE_INTERVAL"});
      given && o.mode != Mode::kObjects)
    return Needs(*given, {"OBJECTS"});
  if (const Option* given = FirstSet(o, {"SNAPSHOTS", "LIVE_INTERVAL"});
      given && o.live == Live::kNo)
    return Needs(*given, {"LIVE"});
  if (o.mode != Mode::kTprof) return {};
  if (const Option* given =
          FirstSet(o, {"METRICS", "THREADS", "CLASSMETHODS", "FOCUS", "KEEP_INTRINSICS", "TRAIN"}))
    return Needs(*given, {"CALLFLOW"}, "TPROF alone records no calls");
  return {};
}

uint64_t RequestedPeriod(const Trigger& trigger) {
  return trigger.requested != 0 ? trigger.requested : trigger.every;
}

}  // namespace

std::string Render(const OptionError& error, Interface interface) {
  if (error.option == nullptr) return error.problem;
  const std::string_view name = NameOf(*error.option, interface);
  if (error.needs.empty()) return fmt::format("{}: {}", name, error.problem);
  // On a command line the subcommand selects the mode, so that only flags can be added.
  std::vector<std::string_view> needs;
  for (const Option* option : error.needs) {
    const bool is_mode = std::holds_alternative<ModeOption>(option->target);
    if (interface == Interface::kAgentString || !is_mode)
      needs.push_back(NameOf(*option, interface));
  }
  return fmt::format("{} needs {}{}{}", name, fmt::join(needs, " or "),
                     error.problem.empty() ? "" : ": ", error.problem);
}

Checked ApplyOptions(std::string_view text, AgentOptions& options) {
  for (const auto part : std::views::split(text, ',')) {
    if (part.empty()) continue;
    if (Checked done = ApplyOption(std::string_view(part), options); !done) return done;
  }
  return {};
}

Checked Check(const AgentOptions& options) {
  if (options.jit_code && !options.jit_log)
    return Needs(*FindOption("CODE"), {"TPROF"},
                 "only the log of jitted code contains instructions");
  if (options.keep_intrinsics && options.probe == ProbeChoice::kJvmti)
    return Wrong(*FindOption("KEEP_INTRINSICS"),
                 "with the events of JVMTI no code is compiled; remove it");
  if (Checked done = CheckSampling(options); !done) return done;
  if (Checked done = CheckCounter(options); !done) return done;
  if (Checked done = CheckLabels(options); !done) return done;
  return CheckMode(options);
}

void Finalize(AgentOptions& o) {
  const bool by_rate = o.mode == Mode::kScs ? o.triggers.empty() : !o.triggers.empty();
  if (by_rate) o.triggers = {Trigger{}};
  o.lowered.clear();
  for (Trigger& trigger : o.triggers) {
    if (!IsClock(trigger)) continue;
    trigger.every = RequestedPeriod(trigger);
    trigger.requested = 0;
    if (trigger.every == 0) trigger.every = 1'000'000'000 / o.rate;
    const uint64_t rate = ptm::RateOf(trigger.every);
    const auto limited = ptm::LimitRate(rate, o.interrupt_ns, o.force_rate);
    if (limited.rate == rate) continue;
    trigger.requested = std::exchange(trigger.every, 1'000'000'000 / limited.rate);
    o.lowered.push_back(limited.reason);
  }
}

Result<AgentOptions> ParseAgentOptions(std::string_view options, std::string_view environment) {
  AgentOptions parsed = {.mode = Mode::kTprof};  // unless an option selects another
  parsed.text = fmt::format("{}{}{}", options, options.empty() || environment.empty() ? "" : ",",
                            environment);
  Checked done = ApplyOptions(parsed.text, parsed);
  if (parsed.mode == Mode::kTprof && !parsed.jit_log) parsed.mode = Mode::kCallflow;
  if (done) done = Check(parsed);
  if (!done) return WrongUse("{}", Render(done.error(), Interface::kAgentString));
  Finalize(parsed);
  return parsed;
}

uint64_t RequestedRate(const AgentOptions& options) {
  uint64_t most = 0;
  for (const Trigger& trigger : options.triggers) {
    if (IsClock(trigger)) most = std::max(most, ptm::RateOf(RequestedPeriod(trigger)));
  }
  return most;
}

// Writes the mode first. TPROF alone is the mode without recorded calls.
std::string ToString(const AgentOptions& options) {
  std::string mode = "TPROF", others;
  for (const Option& option : OptionTable()) {
    const auto value = ValueOf(option, options);
    if (!value) continue;
    const bool is_mode = std::holds_alternative<ModeOption>(option.target);
    if (options.mode == Mode::kTprof && option.name == mode) continue;
    const std::string item = fmt::format("{}{}{}", option.name, value->empty() ? "" : "=", *value);
    if (is_mode) mode = item;
    if (!is_mode) others += "," + item;
  }
  return mode + others;
}

}  // namespace jprof::options
