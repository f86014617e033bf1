#include "options/triggers.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <ranges>

#include "common/nearest.h"
#include "ptm/sampling_rate.h"

namespace jprof::options {
namespace {

const KnownTrigger& Known(TriggerKind kind) {
  return *std::ranges::find(kTriggers, kind, &KnownTrigger::kind);
}

const KnownTrigger* Find(std::string_view name) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  const auto known = std::ranges::find_if(kTriggers, [&](const KnownTrigger& t) {
    return std::ranges::equal(t.name, name, {}, upper, upper);
  });
  return known == std::end(kTriggers) ? nullptr : known;
}

std::unexpected<Error> UnknownEvent(std::string_view name) {
  std::vector<std::string_view> names;
  for (const KnownTrigger& t : kTriggers) names.push_back(t.name);
  const auto nearest = Nearest(name, names);
  return WrongUse("there is no event '{}'; {}", name,
                  nearest ? fmt::format("did you mean {}?", *nearest)
                          : fmt::format("choose from {}", fmt::join(names, ", ")));
}

}  // namespace

bool IsTriggerName(std::string_view name) {
  return name.starts_with(ptm::kEncodedPrefix) || Find(name) != nullptr;
}

Result<void> SetPeriod(Trigger& trigger, std::string_view name, std::string_view number) {
  const auto [end, problem] =
      std::from_chars(number.data(), number.data() + number.size(), trigger.every);
  if (problem != std::errc() || end != number.data() + number.size() || trigger.every == 0 ||
      trigger.every > uint64_t{1} << 40) {
    return WrongUse("'{}' is not a number of at least 1: {}=N", number, name);
  }
  if (!IsClock(trigger) || trigger.every >= ptm::kShortestClockPeriod) return {};
  return WrongUse("{}={}: a timer's period is at least {} ns ({} samples a second)",
                  trigger.kind == TriggerKind::kTime ? "TIME" : MetricsOf(trigger).front().name,
                  number, ptm::kShortestClockPeriod, ptm::kMostRate);
}

Result<Trigger> ParseTrigger(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  Trigger trigger = {.kind = TriggerKind::kEvent, .event = std::string(name)};
  if (!name.starts_with(ptm::kEncodedPrefix)) {
    const KnownTrigger* known = Find(name);
    if (known == nullptr) return UnknownEvent(name);
    trigger = {.kind = known->kind, .every = known->every};
  }
  if (equals != std::string_view::npos) {
    if (const auto set = SetPeriod(trigger, name, text.substr(equals + 1)); !set)
      return std::unexpected(set.error());
  } else if (trigger.kind == TriggerKind::kEvent) {
    return WrongUse("an event needs a period: EVENT=N");
  }
  return trigger;
}

Result<void> AddTrigger(std::vector<Trigger>& triggers, Trigger trigger, std::string_view text) {
  const auto same = [&](const Trigger& t) {
    return t.kind == trigger.kind && t.event == trigger.event;
  };
  if (std::ranges::any_of(triggers, same)) return WrongUse("'{}' is named twice", text);
  triggers.push_back(std::move(trigger));
  if (MetricsOf(triggers).size() > kMostMetrics)
    return WrongUse("these events add up to more than {} metrics", kMostMetrics);
  return {};
}

Result<std::vector<Trigger>> ParseTriggers(std::string_view text) {
  std::vector<Trigger> triggers;
  for (const auto part : std::views::split(text, '+')) {
    auto trigger = ParseTrigger(std::string_view(part));
    if (!trigger) return std::unexpected(trigger.error());
    const auto added = AddTrigger(triggers, *std::move(trigger), std::string_view(part));
    if (!added) return std::unexpected(added.error());
  }
  return triggers;
}

std::string ToString(std::span<const Trigger> triggers) {
  std::string text;
  for (const Trigger& t : triggers) {
    if (!text.empty()) text += '+';
    text += t.kind == TriggerKind::kEvent ? t.event : std::string(Known(t.kind).name);
    if (t.every != 0) text += fmt::format("={}", t.requested != 0 ? t.requested : t.every);
  }
  return text;
}

bool IsClock(const Trigger& trigger) {
  if (trigger.kind != TriggerKind::kEvent) return trigger.kind == TriggerKind::kTime;
  const auto event = ptm::DecodeMetric(trigger.event);
  return event && ptm::CountsTime(*event);
}

std::string TriggerHelp() {
  std::string text;
  for (const KnownTrigger& t : kTriggers) {
    const std::string name =
        t.every != 0 ? fmt::format("{}[={}]", t.name, t.every) : std::string(t.name);
    text += fmt::format("  {:<30} {}\n", name, t.help);
  }
  return text;
}

std::vector<profile::Metric> MetricsOf(const Trigger& trigger) {
  using Clock = profile::Period::Clock;
  const auto samples = [](std::string name, const profile::Period& period) {
    return profile::Metric{.name = std::move(name),
                           .unit = "samples",
                           .kind = profile::Metric::Kind::kSamples,
                           .period = period};
  };
  if (trigger.kind == TriggerKind::kTime)
    return {samples("samples", {trigger.every, trigger.requested, "ns", Clock::kCpu})};
  if (trigger.kind == TriggerKind::kEvent) {
    size_t at = 0;  // the name begins after the sixth colon
    for (int i = 0; i < 6; ++i) at = trigger.event.find(':', at) + 1;
    return {samples(trigger.event.substr(at),
                    {.value = trigger.every, .asked = trigger.requested, .unit = "events"})};
  }
  const KnownTrigger& known = Known(trigger.kind);
  const bool elapsed = known.period_unit == "ms";
  const profile::Period period = {.value = elapsed ? trigger.every * 1'000'000 : trigger.every,
                                  .unit = elapsed ? "ns" : std::string(known.period_unit),
                                  .clock = elapsed ? Clock::kElapsed : Clock::kUnknown};
  const std::string name(known.name);
  if (known.unit.empty()) return {samples(name, period)};
  return {{.name = name,
           .unit = std::string(known.unit),
           .kind = profile::Metric::Kind::kWeighted,
           .period = period},
          samples(name + ".samples", period)};
}

std::vector<profile::Metric> MetricsOf(std::span<const Trigger> triggers) {
  std::vector<profile::Metric> all;
  for (const Trigger& trigger : triggers)
    std::ranges::move(MetricsOf(trigger), std::back_inserter(all));
  return all;
}

}  // namespace jprof::options
