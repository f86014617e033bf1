// `jprof metrics`: lists what this machine can measure and, for everything else, the reason and
// what to change.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/shared/commands.h"
#include "cli/shared/event_pattern.h"
#include "cli/shared/json_output.h"
#include "cli/shared/usage_error.h"
#include "ptm/capabilities.h"
#include "ptm/names/event_name.h"
#include "record/run/interrupt_cost.h"

namespace jprof::cli {
namespace {

constexpr char kMetricsFooter[] = R"(Names, and what each kind of metric needs: docs/COUNTERS.md

Examples:
  jprof metrics                          what can be measured here, and why not more
  jprof metrics --events                 every event name that this machine can count now
  jprof metrics --events 'PAPI_*'        the PAPI presets among them
  jprof metrics --events fault           names with "fault" in them
  jprof metrics --format json            the same for programs
  jprof callflow --metrics time+perf::PAGE-FAULTS -- java -jar app.jar)";

struct Arguments {
  std::string format = "text";
  std::string pattern;
};

struct EventList {
  std::vector<std::string> open;
  size_t known = 0;          // names that match
  std::string first_reason;  // why the first name that cannot be opened fails
};

// Returns the matching names that can be opened. Opening is the only way to test them.
EventList ListEvents(const std::string& pattern) {
  EventList list;
  for (const std::string& name : ptm::KnownEvents()) {
    if (!MatchesPattern(name, pattern)) continue;
    ++list.known;
    const auto event = ptm::CheckEvent(name);
    if (event) {
      list.open.push_back(name);
    } else if (list.first_reason.empty()) {
      list.first_reason = event.error().message;
    }
  }
  return list;
}

Result<int> PrintEvents(const Arguments& options) {
  const EventList list = ListEvents(options.pattern);
  if (list.known == 0) {
    return WrongUse("no event name matches '{}'; `jprof metrics --events` lists them",
                    options.pattern);
  }
  if (options.format == "json") {
    return StatusOf(PrintIndentedJson([&](reports::JsonWriter& json) {
      json.StartObject();
      json.StringsMember("events", list.open);
      json.Member("known", list.known);
      json.EndObject();
    }));
  }
  for (const std::string& name : list.open) fmt::print("{}\n", name);
  const size_t closed = list.known - list.open.size();
  if (closed != 0) {
    fmt::print(stderr, "{} more known name{} cannot be counted here, e.g. {}\n", closed,
               closed == 1 ? "" : "s", list.first_reason);
  }
  return 0;
}

void PrintCapability(const ptm::Capability& capability) {
  const char* verdict = !capability.available ? "no" : capability.lack.empty() ? "yes" : "partly";
  fmt::print("  {:<11} {:<7} {}\n", capability.name, verdict, capability.detail);
  std::string figures;
  for (const auto& [name, value] : capability.figures) {
    fmt::format_to(std::back_inserter(figures), "{}{} {:.{}f}", figures.empty() ? "" : ", ", name,
                   value, value < 1000 && value != static_cast<int64_t>(value) ? 1 : 0);
  }
  if (!figures.empty()) fmt::print("{:21}{}\n", "", figures);
  if (!capability.lack.empty()) fmt::print("{:21}why: {}\n", "", capability.lack);
}

void WriteJson(const ptm::Capability& capability, reports::JsonWriter& json) {
  json.StartObject();
  json.Member("name", capability.name);
  json.Member("available", capability.available);
  json.Member("detail", capability.detail);
  json.Member("lack", capability.lack);
  json.Key("figures");
  json.StartObject();
  for (const auto& [name, value] : capability.figures) DecimalMember(name, value, json);
  json.EndObject();
  json.EndObject();
}

// Describes PAPI as a capability: its version, and the number of presets that can be opened.
ptm::Capability Papi() {
  const EventList presets = ListEvents("PAPI_");
  ptm::Capability papi{.name = "papi", .available = !presets.open.empty()};
  papi.detail = fmt::format("PAPI {}: {} of its {} presets can be counted here", ptm::PapiVersion(),
                            presets.open.size(), presets.known);
  if (!papi.available) papi.lack = presets.first_reason;
  return papi;
}

std::string Kernel() {
  utsname name = {};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

Result<void> PrintJson(const ptm::Machine& machine,
                       const std::vector<ptm::Capability>& capabilities,
                       std::optional<uint64_t> interrupt) {
  return PrintIndentedJson([&](reports::JsonWriter& json) {
    json.StartObject();
    json.Member("kernel", Kernel());
    json.Member("virtual_machine", machine.virtual_machine);
    json.Member("pmu", machine.pmu);
    OptionalMember("perf_event_paranoid", machine.paranoid, json);
    OptionalMember("interrupt_ns", interrupt, json);
    json.Key("metrics");
    json.StartArray();
    for (const ptm::Capability& capability : capabilities) WriteJson(capability, json);
    json.EndArray();
    json.EndObject();
  });
}

void PrintText(const ptm::Machine& machine, const std::vector<ptm::Capability>& capabilities,
               std::optional<uint64_t> interrupt) {
  fmt::print("Metrics on this machine ({}{})\n", Kernel(),
             machine.virtual_machine ? ", virtual machine" : "");
  for (const ptm::Capability& capability : capabilities) PrintCapability(capability);
  fmt::print("A timer interrupt costs {}\n",
             interrupt ? record::InterruptText(*interrupt)
                       : "unknown; `jprof calibrate`, or sampling at a high rate, measures it");
  fmt::print("Event names that can be counted here: jprof metrics --events\n");
}

Result<int> PrintCapabilities(const Arguments& options) {
  const ptm::Machine machine = ptm::ReadMachine();
  std::vector<ptm::Capability> capabilities = ptm::FindCapabilities(machine);
  capabilities.push_back(Papi());
  const auto interrupt = record::KnownInterruptNanos();
  if (options.format == "json") return StatusOf(PrintJson(machine, capabilities, interrupt));
  PrintText(machine, capabilities, interrupt);
  return 0;
}

}  // namespace

Action MetricsCommand(CommandLine line, const Command&) {
  auto options = std::make_shared<Arguments>();
  line.Footer(kMetricsFooter);
  line.Option("--format", options->format, "text|json", "text (default) or json")
      .OneOf({"text", "json"});
  const Declared events = line.Option("--events", options->pattern, "[PATTERN]",
                                      "List the event names that can be opened; with PATTERN (* "
                                      "and ? are wildcards) only those that match")
                              .OptionalValue();
  return [options, events] {
    return events.IsGiven() ? PrintEvents(*options) : PrintCapabilities(*options);
  };
}

}  // namespace jprof::cli
