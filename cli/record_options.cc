#include "cli/record_options.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "options/option_table.h"
#include "ptm/names/event_name.h"

namespace jprof::cli {
namespace {

constexpr uint64_t kUsualPeriod = 1'000'000;  // of an event of the processor or the kernel

void AddFlag(CLI::App& sub, const agent::Option& option, RecordOptions& typed) {
  const std::string flag(option.flag), help = agent::HelpOf(option);
  const auto set = [&typed, &option](const std::string& value) {
    auto done = agent::Set(option, value, agent::Interface::kCommandLine, typed.options);
    if (!done && !typed.wrong) typed.wrong = std::move(done.error());
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
        ->type_name(std::string(argument.substr(0, argument.find(']'))));
  } else {
    sub.add_flag_callback(
        flag, [set] { set(""); }, help);
  }
}

// An event of the JVM, or one of the processor or the kernel by the name that PAPI or perf has for
// it, which only this side knows.
Result<agent::Trigger> SampledEvent(std::string_view typed, std::vector<std::string>& notes) {
  const size_t equals = typed.find('=');
  const std::string names[] = {std::string(typed.substr(0, equals))};
  if (agent::IsTriggerName(names[0])) return agent::ParseTrigger(typed);
  auto event = ptm::MetricsForAgent(names);
  if (!event) return WrongUse("{}; events of the JVM: jprof scs --help", event.error().message);
  std::ranges::move(event->notes, std::back_inserter(notes));
  agent::Trigger trigger = {
      .kind = agent::TriggerKind::kEvent, .every = kUsualPeriod, .event = event->names.front()};
  if (!agent::IsTriggerName(trigger.event)) return agent::ParseTrigger(typed);
  const auto period =
      equals == typed.npos ? std::to_string(kUsualPeriod) : std::string(typed.substr(equals + 1));
  if (const auto set = agent::SetPeriod(trigger, names[0], period); !set)
    return std::unexpected(set.error());
  return trigger;
}

Result<void> AddEvents(const RecordOptions& typed, Understood& understood) {
  for (const std::string& list : typed.events) {
    for (const auto part : std::views::split(list, '+')) {
      auto trigger = SampledEvent(std::string_view(part), understood.notes);
      if (!trigger) return WrongUse("--event: {}", trigger.error().message);
      const auto added = agent::AddTrigger(understood.options.triggers, *std::move(trigger),
                                           std::string_view(part));
      if (!added) return WrongUse("--event: {}", added.error().message);
    }
  }
  return {};
}

Result<void> AddMetrics(const RecordOptions& typed, Understood& understood) {
  if (typed.metrics.empty()) return {};
  auto metrics = ptm::MetricsForAgent(SplitMetrics(typed.metrics));
  if (!metrics) return std::unexpected(metrics.error());
  understood.options.metrics = std::move(metrics->names);
  std::ranges::move(metrics->notes, std::back_inserter(understood.notes));
  return {};
}

std::unexpected<Error> AsTyped(const agent::OptionError& error) {
  return WrongUse("{}", agent::Render(error, agent::Interface::kCommandLine));
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
  for (const agent::Option& option : agent::OptionTable()) {
    const bool has = (option.commands & agent::CommandOf(typed.options.mode)) != 0;
    if (has && !option.flag.empty()) AddFlag(sub, option, typed);
  }
  sub.add_flag("--force", typed.force,
               "replace the profile that is there; allow caps above a third of the available "
               "memory");
  sub.add_option("--agent", typed.agent,
                 "the agent library (default: JPROF_AGENT, or libjprof.so beside this program)")
      ->type_name("LIB");
}

Result<Understood> Understand(const RecordOptions& typed) {
  if (typed.wrong) return AsTyped(*typed.wrong);
  Understood understood = {.options = typed.options};
  if (const auto added = AddEvents(typed, understood); !added)
    return std::unexpected(added.error());
  if (const auto added = AddMetrics(typed, understood); !added)
    return std::unexpected(added.error());
  if (const auto checked = agent::Check(understood.options); !checked)
    return AsTyped(checked.error());
  agent::Finalize(understood.options);
  return understood;
}

}  // namespace jprof::cli
