#include "ptm/names/event_name.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "common/nearest.h"
#include "ptm/event_group.h"
#include "ptm/machine.h"
#include "ptm/names/papi.h"
#include "ptm/names/pfm.h"

namespace jprof::ptm {
namespace {

constexpr std::string_view kBuiltIn[] = {"time", "dispatches"};

std::string Upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return out;
}

std::string Join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::unexpected<Error> Unknown(std::string_view name) {
  const std::vector<std::string> known = KnownEvents();
  std::vector<std::string_view> choices(std::begin(kBuiltIn), std::end(kBuiltIn));
  for (const std::string& event : known) {
    choices.push_back(event);
    const size_t pmu = event.find("::");
    if (pmu != std::string::npos) choices.push_back(std::string_view(event).substr(pmu + 2));
  }
  const auto nearest = Nearest(name, choices);
  if (!nearest)
    return WrongUse("unknown metric '{}'; `jprof metrics --events` lists the names", name);
  return WrongUse(
      "unknown metric '{}'; the nearest is '{}' (`jprof metrics --events` lists the names)", name,
      *nearest);
}

Result<NamedEvent> ResolveNative(std::string_view name, const std::string& native) {
  pfm::Encoded encoded = pfm::Encode(native);
  switch (encoded.answer) {
    case pfm::Answer::kUnknown:
      return Unknown(name);
    case pfm::Answer::kBadModifier:
      return WrongUse("metric '{}': {}; its modifiers are {}", name, encoded.reason,
                      Join(pfm::Modifiers(native), ", "));
    case pfm::Answer::kFailed:
      return WrongUse("metric '{}': libpfm4 cannot encode it: {}", name, encoded.reason);
    case pfm::Answer::kFound:
      break;
  }
  encoded.spec.name = name;
  return NamedEvent{std::move(encoded.spec), std::move(encoded.native), ""};
}

Result<NamedEvent> ResolvePreset(std::string_view name) {
  const size_t colon = std::min(name.find(':'), name.size());
  const std::string preset_name = Upper(name.substr(0, colon));
  const std::string modifiers(name.substr(colon));
  const std::string generic(papi::GenericEvent(preset_name));
  const auto preset = papi::FindPreset(preset_name);
  if (preset && preset->natives.size() == 1)
    return ResolveNative(name, preset->natives[0] + modifiers);
  if (preset && preset->natives.size() > 1) {
    return WrongUse("metric '{}' is a formula over {} events on this CPU; ask for them instead: {}",
                    name, preset->natives.size(), Join(preset->natives, "+"));
  }
  if (!generic.empty()) {
    auto event = ResolveNative(name, generic + modifiers);
    if (event)
      event->note = fmt::format("{}: PAPI does not offer it here; counting {}", name, generic);
    return event;
  }
  if (!preset) return Unknown(name);
  const Machine machine = ReadMachine();
  return WrongUse("metric '{}' cannot be counted: {}", name,
                  machine.pmu.empty() ? WhyNoPmu(machine) : "PAPI does not offer it on this CPU");
}

}  // namespace

bool IsBuiltInMetric(std::string_view name) {
  return std::ranges::find(kBuiltIn, name) != std::end(kBuiltIn);
}

Result<NamedEvent> ResolveEvent(std::string_view name) {
  if (name.empty())
    return WrongUse("an empty metric name; `jprof metrics --events` lists the names");
  if (IsBuiltInMetric(name)) return WrongUse("metric '{}' is jprof's own, not an event", name);
  if (Upper(name).starts_with("PAPI_")) return ResolvePreset(name);
  return ResolveNative(name, std::string(name));
}

Result<NamedEvent> CheckEvent(std::string_view name) {
  auto event = ResolveEvent(name);
  if (!event) return event;
  EventGroup group;
  const OpenFailure failure = group.Open({&event->spec, 1});
  if (failure.Failed()) {
    return WrongUse("metric '{}' cannot be counted: {}", name,
                    Explain(event->spec, failure.error, ReadMachine()));
  }
  if (group.slot(0).user_only) {
    event->spec.exclude |= kExcludeKernel | kExcludeHypervisor;
    event->note =
        fmt::format("{}: user mode only: {}", name, Explain(event->spec, EACCES, ReadMachine()));
  }
  return event;
}

Result<AgentMetrics> MetricsForAgent(std::span<const std::string> names) {
  if (names.size() > kMaxEvents)
    return WrongUse("{} metrics; {} at most", names.size(), kMaxEvents);
  AgentMetrics metrics;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (std::find(names.begin(), names.begin() + i, name) != names.begin() + i) {
      return WrongUse("metric '{}' is named twice", name);
    }
    if (IsBuiltInMetric(name)) {
      metrics.names.push_back(name);
      continue;
    }
    auto event = CheckEvent(name);
    if (!event) return std::unexpected(event.error());
    metrics.names.push_back(EncodeMetric(event->spec));
    if (!event->note.empty()) metrics.notes.push_back(event->note);
  }
  return metrics;
}

std::vector<std::string> KnownEvents() {
  std::vector<std::string> names = papi::PresetNames();
  std::ranges::move(pfm::EventNames(), std::back_inserter(names));
  std::ranges::sort(names);
  return names;
}

std::string PapiVersion() { return papi::Version(); }

}  // namespace jprof::ptm
