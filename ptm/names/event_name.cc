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
    return WrongUse("metric '{}' is a formula over {} events on this CPU; use them instead: {}",
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

// These events increase in any loop, so a count of 0 means that the counter does not work.
constexpr std::string_view kAlwaysIncreasing[] = {"PAPI_TOT_INS", "PAPI_TOT_CYC",
                                                  "PAPI_BR_INS",  "perf::INSTRUCTIONS",
                                                  "perf::CYCLES", "perf::BRANCH-INSTRUCTIONS"};

bool IsSameEvent(const EventSpec& a, const EventSpec& b) {
  return a.type == b.type && a.config == b.config && a.config1 == b.config1 &&
         a.config2 == b.config2;
}

bool AlwaysIncreases(const EventSpec& event) {
  if ((event.exclude & kExcludeUser) != 0) return false;
  return std::ranges::any_of(kAlwaysIncreasing, [&](std::string_view name) {
    const auto known = ResolveEvent(name);
    return known && IsSameEvent(known->spec, event);
  });
}

bool Moves(EventSlot& slot) {
  const int64_t before = ReadByCall(slot);
  volatile int turns = 100'000;
  while (turns > 0) turns = turns - 1;
  return ReadByCall(slot) > before;
}

bool Opens(std::string_view name) {
  const auto event = ResolveEvent(name);
  EventGroup group;
  return event && !group.Open({&event->spec, 1}).Failed() &&
         (!AlwaysIncreases(event->spec) || Moves(group.slot(0)));
}

// Returns the alternatives to a hardware event that cannot be counted.
std::string Alternatives() {
  std::vector<std::string> work = {"time"};
  for (const char* name : {"PAPI_TOT_CYC", "page-faults"}) {
    if (Opens(name)) work.emplace_back(name);
  }
  if (work.size() == 1) return "only time works here, as wall clock";
  return Join(work, " and ") + " work here";
}

bool IsUserInstructions(const EventSpec& event) {
  const auto known = ResolveEvent("perf::INSTRUCTIONS");
  return known && IsSameEvent(known->spec, event) && (event.exclude & kExcludeUser) == 0 &&
         (event.exclude & kExcludeKernel) != 0;
}

// Returns the event. It is counted by tracing if that is possible and the machine has no counter
// for it.
Result<NamedEvent> CheckOrTrace(const std::string& name) {
  auto event = CheckEvent(name);
  if (event) return event;
  const auto resolved = ResolveEvent(name);
  if (!resolved || !IsUserInstructions(resolved->spec)) return event;
  return NamedEvent{
      .spec = {.name = name, .type = kCountedInMemory},
      .native = resolved->native,
      .note = fmt::format("{}: this machine has no counter for them; they are counted exactly by "
                          "tracing the program, which makes it much slower (docs/ITRACE.md)",
                          name)};
}

}  // namespace

bool CheckedMetrics::NeedTracing() const {
  return std::ranges::any_of(metrics, [](const CheckedMetric& metric) {
    return metric.event && metric.event->type == kCountedInMemory;
  });
}

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
    return WrongUse("metric '{}' cannot be counted: {}{}", name,
                    Explain(event->spec, failure.error, ReadMachine()),
                    IsSoftware(event->spec) ? "" : "; " + Alternatives());
  }
  if (AlwaysIncreases(event->spec) && !Moves(group.slot(0))) {
    return WrongUse(
        "metric '{}' cannot be counted: this machine's PMU accepts it but counts 0 over a loop "
        "(an emulator or a partial virtual PMU); {}",
        name, Alternatives());
  }
  if (group.slot(0).user_only) {
    event->spec.exclude |= kExcludeKernel | kExcludeHypervisor;
    event->note =
        fmt::format("{}: user mode only: {}", name, Explain(event->spec, EACCES, ReadMachine()));
  }
  return event;
}

Result<CheckedMetrics> CheckMetrics(std::span<const std::string> names, Uncounted instructions) {
  if (names.size() > kMaxEvents)
    return WrongUse("{} metrics; {} at most", names.size(), kMaxEvents);
  CheckedMetrics checked;
  for (const std::string& name : names) {
    CheckedMetric metric = {.name = name};
    if (!IsBuiltInMetric(name)) {
      auto event = instructions == Uncounted::kTrace ? CheckOrTrace(name) : CheckEvent(name);
      if (!event) return std::unexpected(event.error());
      metric.event = std::move(event->spec);
      if (!event->note.empty()) checked.notes.push_back(event->note);
    }
    for (const CheckedMetric& other : checked.metrics) {
      if (Upper(other.name) == Upper(name)) return WrongUse("metric '{}' is named twice", name);
      if (other.event && metric.event && IsSameEvent(*other.event, *metric.event) &&
          other.event->exclude == metric.event->exclude) {
        return WrongUse("metric '{}' is named twice: '{}' is the same event", name, other.name);
      }
    }
    checked.metrics.push_back(std::move(metric));
  }
  return checked;
}

std::vector<std::string> SplitNames(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t end = std::min(list.find_first_of("+,"), list.size());
    names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

std::vector<std::string> KnownEvents() {
  std::vector<std::string> names = papi::PresetNames();
  std::ranges::move(pfm::EventNames(), std::back_inserter(names));
  std::ranges::sort(names);
  return names;
}

std::string DescribeEvent(std::string_view name) {
  if (name == "time") return "On-CPU time of the thread";
  if (name == "dispatches") return "Times the thread was put on a CPU";
  if (Upper(name).starts_with("PAPI_")) return papi::Description(Upper(name));
  return pfm::Description(std::string(name));
}

std::vector<std::string> OtherNames(std::string_view name) {
  std::vector<std::string> names;
  const auto event = ResolveEvent(name);
  if (!event) return names;
  if (Upper(name).starts_with("PAPI_")) {
    const std::string generic(papi::GenericEvent(Upper(name)));
    if (!generic.empty()) names.push_back(generic);
    return names;
  }
  for (const std::string& preset : papi::PresetNames()) {
    const std::string_view generic = papi::GenericEvent(preset);
    const auto is_it = [&](std::string_view other_name) {
      const auto other = ResolveEvent(other_name);
      return other && IsSameEvent(other->spec, event->spec);
    };
    if (is_it(preset) || (!generic.empty() && is_it(generic))) names.push_back(preset);
  }
  return names;
}

std::vector<size_t> DoNotFit(std::span<const EventSpec> events) {
  std::vector<size_t> apart;
  EventGroup group;
  if (group.Open(events).Failed()) return apart;
  bool first = true;
  for (int i = 0; i < group.size(); ++i) {
    if (IsSoftware(events[i]) || group.slot(i).leader != group.slot(i).fd) continue;
    if (!first) apart.push_back(i);
    first = false;
  }
  return apart;
}

std::string PapiVersion() { return papi::Version(); }

}  // namespace jprof::ptm
