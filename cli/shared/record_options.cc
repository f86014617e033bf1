#include "cli/shared/record_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "options/option_table.h"
#include "ptm/names/event_name.h"

namespace jprof::cli {
namespace {

// The default period of an event of the processor or the kernel.
constexpr uint64_t kDefaultPeriod = 1'000'000;

// Returns the choices, such as "auto|perf|posix", or the word of the table, such as "DIR".
std::string ValueName(const options::Option& option, std::string_view word) {
  const auto choices = options::ChoicesOf(option);
  return choices.empty() ? std::string(word) : fmt::format("{}", fmt::join(choices, "|"));
}

void AddFlag(CLI::App& sub, const options::Option& option, RecordOptions& typed,
             const std::string& help) {
  const std::string flag(option.flag);
  const auto set = [&typed, &option](const std::string& value) {
    auto done = options::Set(option, value, options::Interface::kCommandLine, typed.options);
    if (!done && !typed.error) typed.error = std::move(done.error());
  };
  if (option.flag == "--event") {
    sub.add_option(flag, typed.events, help)
        ->type_name("E[=N]")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  } else if (option.flag == "--metrics") {
    sub.add_option(flag, typed.metrics, help)->type_name(std::string(option.argument));
  } else if (option.TakesValue()) {
    const size_t name = option.NeedsValue() ? 0 : std::string_view("[=").size();
    const std::string_view argument = option.argument.substr(name);
    sub.add_option_function<std::string>(flag, set, help)
        ->type_name(ValueName(option, argument.substr(0, argument.find(']'))))
        ->expected(option.NeedsValue() ? 1 : 0, 1);
  } else {
    sub.add_flag_callback(
        flag, [set] { set(""); }, help);
  }
}

// Parses an event of the JVM, or an event of the processor or the kernel by its PAPI or perf name.
// The agent cannot resolve these names.
Result<options::Trigger> ParseEvent(std::string_view typed, std::vector<std::string>& notes) {
  const size_t equals = typed.find('=');
  const std::string names[] = {std::string(typed.substr(0, equals))};
  if (options::IsTriggerName(names[0])) return options::ParseTrigger(typed);
  auto event = ptm::CheckMetrics(names);
  if (!event) return WrongUse("{}; events of the JVM: jprof scs --help", event.error().message);
  std::ranges::move(event->notes, std::back_inserter(notes));
  options::Trigger trigger = {.kind = options::TriggerKind::kEvent,
                              .every = kDefaultPeriod,
                              .event = event->metrics.front().AgentName()};
  if (!options::IsTriggerName(trigger.event)) return options::ParseTrigger(typed);
  const auto period =
      equals == typed.npos ? std::to_string(kDefaultPeriod) : std::string(typed.substr(equals + 1));
  if (const auto set = options::SetPeriod(trigger, names[0], period); !set)
    return std::unexpected(set.error());
  return trigger;
}

Result<void> AddEvents(const RecordOptions& typed, ResolvedOptions& resolved) {
  for (const std::string& list : typed.events) {
    for (const auto part : std::views::split(list, '+')) {
      auto trigger = ParseEvent(std::string_view(part), resolved.notes);
      if (!trigger) return WrongUse("--event: {}", trigger.error().message);
      const auto added = options::AddTrigger(resolved.options.triggers, *std::move(trigger),
                                             std::string_view(part));
      if (!added) return WrongUse("--event: {}", added.error().message);
    }
  }
  return {};
}

Result<void> AddMetrics(const RecordOptions& typed, ResolvedOptions& resolved) {
  if (typed.metrics.empty()) return {};
  auto metrics = ptm::CheckMetrics(SplitMetrics(typed.metrics), ptm::Uncounted::kTrace);
  if (!metrics) return std::unexpected(metrics.error());
  resolved.traced = metrics->NeedTracing();
  resolved.options.metrics.clear();
  for (const ptm::CheckedMetric& metric : metrics->metrics)
    resolved.options.metrics.push_back(metric.AgentName());
  std::ranges::move(metrics->notes, std::back_inserter(resolved.notes));
  return {};
}

std::unexpected<Error> UsageError(const options::OptionError& error) {
  return WrongUse("{}", options::Render(error, options::Interface::kCommandLine));
}

}  // namespace

std::vector<std::string> SplitMetrics(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("+,"), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

void AddOptions(CLI::App& sub, RecordOptions& typed) {
  for (const options::Option& option : options::OptionTable()) {
    const bool has = (option.commands & options::CommandOf(typed.options.mode)) != 0;
    if (has && !option.flag.empty()) AddFlag(sub, option, typed, options::HelpOf(option));
  }
  AddCommandOptions(sub, typed);
}

void AddOption(CLI::App& sub, std::string_view flag, RecordOptions& typed, std::string help) {
  const auto option = std::ranges::find(options::OptionTable(), flag, &options::Option::flag);
  AddFlag(sub, *option, typed, help.empty() ? options::HelpOf(*option) : help);
}

void AddCommandOptions(CLI::App& sub, RecordOptions& typed) {
  sub.add_flag("--force", typed.force,
               "replace an existing profile; allow limits above a third of the available memory");
  sub.add_option("--agent", typed.agent,
                 "the agent library (default: JPROF_AGENT, or libjprof.so of this installation)")
      ->type_name("LIB");
}

Result<ResolvedOptions> Resolve(const RecordOptions& typed) {
  if (typed.error) return UsageError(*typed.error);
  ResolvedOptions resolved = {.options = typed.options};
  if (const auto added = AddEvents(typed, resolved); !added) return std::unexpected(added.error());
  if (const auto added = AddMetrics(typed, resolved); !added) return std::unexpected(added.error());
  if (const auto checked = options::Check(resolved.options); !checked)
    return UsageError(checked.error());
  options::Finalize(resolved.options);
  return resolved;
}

}  // namespace jprof::cli
