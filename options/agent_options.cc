#include "options/agent_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "common/nearest.h"
#include "options/option_errors.h"
#include "options/option_table.h"
#include "ptm/sampling_rate.h"

namespace jprof::options {
namespace {

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
