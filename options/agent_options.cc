#include "options/agent_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <ranges>
#include <utility>

#include "common/nearest.h"
#include "options/option_table.h"
#include "ptm/sampling_rate.h"

namespace jprof::agent {
namespace {

using Words = std::initializer_list<std::string_view>;

std::unexpected<OptionError> Wrong(const Option& option, std::string problem) {
  return std::unexpected(OptionError{.option = &option, .problem = std::move(problem)});
}

std::unexpected<OptionError> Needs(const Option& option, Words needs, std::string_view why = "") {
  OptionError error = {.option = &option, .problem = std::string(why)};
  for (const std::string_view word : needs) error.needs.push_back(FindOption(word));
  return std::unexpected(std::move(error));
}

std::unexpected<OptionError> Unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : OptionTable()) {
    names.push_back(option.word);
    for (const auto alias : std::views::split(option.aliases, ' '))
      if (!alias.empty()) names.emplace_back(alias);
  }
  const auto nearest = Nearest(name, names);
  return std::unexpected(
      OptionError{.problem = fmt::format("there is no option '{}'; {}", name,
                                         nearest ? fmt::format("did you mean {}?", *nearest)
                                                 : "the option HELP lists them all")});
}

Checked ApplyWord(std::string_view text, AgentOptions& options) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = equals == text.npos ? "" : text.substr(equals + 1);
  const Option* const option = FindOption(name);
  if (option == nullptr) return Unknown(name);
  if (!option->TakesValue() && equals != text.npos)
    return Wrong(*option, fmt::format("takes no value; leave '{}' out", text.substr(equals)));
  if (option->NeedsValue() && value.empty())
    return Wrong(*option, fmt::format("needs a value: {}={}", option->word, option->argument));
  return Set(*option, value, Interface::kAgentString, options);
}

// The first of these that was given; null: none.
const Option* Given(const AgentOptions& options, Words words) {
  for (const std::string_view word : words) {
    const Option* const option = FindOption(word);
    if (ValueOf(*option, options)) return option;
  }
  return nullptr;
}

bool HasTime(const AgentOptions& o) {
  return o.triggers.empty() ||
         std::ranges::count(o.triggers, TriggerKind::kTime, &Trigger::kind) != 0;
}

// What only sampling has.
Checked CheckSampling(const AgentOptions& o) {
  const bool sampling = o.mode == Mode::kScs || !o.triggers.empty();
  if (sampling && o.mode != Mode::kScs && o.mode != Mode::kCalltree) {
    return Needs(*FindOption("SAMPLE"), {"CALLTREE", "SCS"}, "only these take samples");
  }
  if (const Option* given = Given(o, {"NOSTART", "DELAY", "DURATION"}); given && !sampling)
    return Needs(*given, {"SCS", "SAMPLE"}, "only sampling starts and stops");
  if (const Option* given = Given(o, {"FORCE_RATE", "TIMER"}); given && !sampling)
    return Needs(*given, {"SCS", "SAMPLE"}, "only sampling has timers");
  if (const Option* given = Given(o, {"TIMER"}); given && o.mode == Mode::kScs && !HasTime(o))
    return Wrong(*given, "nothing is sampled by CPU time here; add TIME");
  if (o.object_info && o.mode != Mode::kScs) return Needs(*FindOption("OBJECTINFO"), {"SCS"});
  return {};
}

// What the mode has no use for.
Checked CheckMode(const AgentOptions& o) {
  if (o.mode == Mode::kCalltree && !o.metrics.empty())
    return Needs(*FindOption("METRICS"), {"CALLFLOW"}, "CALLTREE only counts");
  if (o.mode == Mode::kScs) {
    if (const Option* given = Given(o, {"METRICS", "TRAIN", "FOCUS", "CLASSMETHODS"}))
      return Wrong(*given, "SCS takes whole stacks, at events; leave it out");
  }
  if (o.mode != Mode::kTprof) return {};
  if (const Option* given = Given(o, {"METRICS", "THREADS", "CLASSMETHODS", "FOCUS", "TRAIN"}))
    return Needs(*given, {"CALLFLOW"}, "TPROF alone records no calls");
  return {};
}

uint64_t AskedPeriod(const Trigger& trigger) {
  return trigger.asked != 0 ? trigger.asked : trigger.every;
}

}  // namespace

std::string Render(const OptionError& error, Interface interface) {
  if (error.option == nullptr) return error.problem;
  const std::string_view name = NameOf(*error.option, interface);
  if (error.needs.empty()) return fmt::format("{}: {}", name, error.problem);
  // A mode is chosen by the command: on a command line only flags can be added.
  std::vector<std::string_view> needs;
  for (const Option* option : error.needs) {
    const bool is_mode = std::holds_alternative<ModeWord>(option->target);
    if (interface == Interface::kAgentString || !is_mode)
      needs.push_back(NameOf(*option, interface));
  }
  return fmt::format("{} needs {}{}{}", name, fmt::join(needs, " or "),
                     error.problem.empty() ? "" : ": ", error.problem);
}

Checked ApplyWords(std::string_view words, AgentOptions& options) {
  for (const auto part : std::views::split(words, ',')) {
    if (part.empty()) continue;
    if (Checked done = ApplyWord(std::string_view(part), options); !done) return done;
  }
  return {};
}

Checked Check(const AgentOptions& options) {
  if (options.jit_code && !options.jit_log)
    return Needs(*FindOption("CODE"), {"TPROF"}, "only the log of jitted code has it");
  if (options.keep_intrinsics && options.focus.Empty())
    return Needs(*FindOption("KEEP_INTRINSICS"), {"FOCUS"});
  if (Checked done = CheckSampling(options); !done) return done;
  return CheckMode(options);
}

void Settle(AgentOptions& o) {
  const bool by_rate = o.mode == Mode::kScs ? o.triggers.empty() : !o.triggers.empty();
  if (by_rate) o.triggers = {Trigger{}};
  o.lowered.clear();
  for (Trigger& trigger : o.triggers) {
    if (!IsClock(trigger)) continue;
    trigger.every = AskedPeriod(trigger);
    trigger.asked = 0;
    if (trigger.every == 0) trigger.every = 1'000'000'000 / o.rate;
    const uint64_t rate = ptm::RateOf(trigger.every);
    const auto limited = ptm::LimitRate(rate, o.interrupt_ns, o.force_rate);
    if (limited.rate == rate) continue;
    trigger.asked = std::exchange(trigger.every, 1'000'000'000 / limited.rate);
    o.lowered.push_back(limited.reason);
  }
}

Result<AgentOptions> ParseAgentOptions(std::string_view options, std::string_view environment) {
  AgentOptions parsed = {.mode = Mode::kTprof};  // until a word says another
  parsed.text = fmt::format("{}{}{}", options, options.empty() || environment.empty() ? "" : ",",
                            environment);
  Checked done = ApplyWords(parsed.text, parsed);
  if (parsed.mode == Mode::kTprof && !parsed.jit_log) parsed.mode = Mode::kCallflow;
  if (done) done = Check(parsed);
  if (!done) return WrongUse("{}", Render(done.error(), Interface::kAgentString));
  Settle(parsed);
  return parsed;
}

uint64_t AskedRate(const AgentOptions& options) {
  uint64_t most = 0;
  for (const Trigger& trigger : options.triggers) {
    if (IsClock(trigger)) most = std::max(most, ptm::RateOf(AskedPeriod(trigger)));
  }
  return most;
}

// The mode first: without calls to record it is what TPROF alone means.
std::string ToString(const AgentOptions& options) {
  std::string mode = "TPROF", rest;
  for (const Option& option : OptionTable()) {
    const auto value = ValueOf(option, options);
    if (!value) continue;
    const bool is_mode = std::holds_alternative<ModeWord>(option.target);
    if (options.mode == Mode::kTprof && option.word == mode) continue;
    const std::string word = fmt::format("{}{}{}", option.word, value->empty() ? "" : "=", *value);
    if (is_mode) mode = word;
    if (!is_mode) rest += "," + word;
  }
  return mode + rest;
}

}  // namespace jprof::agent
