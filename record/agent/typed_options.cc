#include "record/agent/typed_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "ptm/names/event_name.h"

namespace jprof::record {
namespace {

// The default period of an event of the processor or the kernel.
constexpr uint64_t kDefaultPeriod = 1'000'000;

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

Result<void> AddEvents(const TypedOptions& typed, ResolvedOptions& resolved) {
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

Result<void> AddMetrics(const TypedOptions& typed, ResolvedOptions& resolved) {
  if (typed.metrics.empty()) return {};
  auto metrics = ptm::CheckMetrics(ptm::SplitNames(typed.metrics), ptm::Uncounted::kTrace);
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

// Applies JPROFOPTS. The options must be free of conflicts before, so that an error is one of
// JPROFOPTS.
Result<void> ApplyEnvironment(std::string_view environment, options::AgentOptions& options) {
  options::Checked done = options::ApplyOptions(environment, options);
  if (done) done = options::Check(options);
  if (done) return {};
  return WrongUse("JPROFOPTS: {}", options::Render(done.error(), options::Interface::kAgentString));
}

}  // namespace

Result<ResolvedOptions> Resolve(const TypedOptions& typed, std::string_view environment) {
  if (typed.error) return UsageError(*typed.error);
  ResolvedOptions resolved = {.options = typed.options};
  if (const auto added = AddEvents(typed, resolved); !added) return std::unexpected(added.error());
  if (const auto added = AddMetrics(typed, resolved); !added) return std::unexpected(added.error());
  if (const auto checked = options::Check(resolved.options); !checked)
    return UsageError(checked.error());
  if (const auto applied = ApplyEnvironment(environment, resolved.options); !applied)
    return std::unexpected(applied.error());
  options::Finalize(resolved.options);
  return resolved;
}

}  // namespace jprof::record
