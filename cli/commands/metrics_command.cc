// `jprof metrics`: lists what this machine can measure and, for everything else, the reason and
// what to change.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/shared/commands.h"
#include "cli/shared/event_pattern.h"
#include "ptm/capabilities.h"
#include "ptm/names/event_name.h"
#include "record/run/interrupt_cost.h"

namespace jprof::cli {
namespace {

using nlohmann::ordered_json;

constexpr char kMetricsFooter[] = R"(Examples:
  jprof metrics                          what can be measured here, and why not more
  jprof metrics --events                 every event name that this machine can count now
  jprof metrics --events 'PAPI_*'        the PAPI presets among them
  jprof metrics --events fault           names with "fault" in them
  jprof metrics --format json            the same for programs
  jprof callflow --metrics time+perf::PAGE-FAULTS -- java -jar app.jar

Names, and what each kind of metric needs: docs/COUNTERS.md)";

struct Arguments {
  std::string format = "text";
  std::string pattern;
};

struct EventList {
  std::vector<std::string> open;
  size_t known = 0;        // names that match
  std::string first_lack;  // why the first name that cannot be opened fails
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
    } else if (list.first_lack.empty()) {
      list.first_lack = event.error().message;
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
    fmt::print("{}\n", ordered_json{{"events", list.open}, {"known", list.known}}.dump(2));
    return 0;
  }
  for (const std::string& name : list.open) fmt::print("{}\n", name);
  const size_t closed = list.known - list.open.size();
  if (closed != 0) {
    fmt::print(stderr, "{} more known name{} cannot be counted here, e.g. {}\n", closed,
               closed == 1 ? "" : "s", list.first_lack);
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

ordered_json ToJson(const ptm::Capability& capability) {
  ordered_json figures = ordered_json::object();
  for (const auto& [name, value] : capability.figures) figures[name] = value;
  return {{"name", capability.name},
          {"available", capability.available},
          {"detail", capability.detail},
          {"lack", capability.lack},
          {"figures", figures}};
}

// Describes PAPI as a capability: its version, and the number of presets that can be opened.
ptm::Capability Papi() {
  const EventList presets = ListEvents("PAPI_");
  ptm::Capability papi{.name = "papi", .available = !presets.open.empty()};
  papi.detail = fmt::format("PAPI {}: {} of its {} presets can be counted here", ptm::PapiVersion(),
                            presets.open.size(), presets.known);
  if (!papi.available) papi.lack = presets.first_lack;
  return papi;
}

std::string Kernel() {
  utsname name = {};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

template <typename T>
ordered_json ToJson(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

void PrintJson(const ptm::Machine& machine, const std::vector<ptm::Capability>& capabilities,
               std::optional<uint64_t> interrupt) {
  ordered_json metrics = ordered_json::array();
  for (const ptm::Capability& capability : capabilities) metrics.push_back(ToJson(capability));
  fmt::print("{}\n", ordered_json{{"kernel", Kernel()},
                                  {"virtual_machine", machine.virtual_machine},
                                  {"pmu", machine.pmu},
                                  {"perf_event_paranoid", ToJson(machine.paranoid)},
                                  {"interrupt_ns", ToJson(interrupt)},
                                  {"metrics", metrics}}
                         .dump(2));
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

int PrintCapabilities(const Arguments& options) {
  const ptm::Machine machine = ptm::ReadMachine();
  std::vector<ptm::Capability> capabilities = ptm::FindCapabilities(machine);
  capabilities.push_back(Papi());
  const auto interrupt = record::KnownInterruptNanos();
  if (options.format == "json") {
    PrintJson(machine, capabilities, interrupt);
  } else {
    PrintText(machine, capabilities, interrupt);
  }
  return 0;
}

}  // namespace

Action MetricsCommand(CLI::App& sub, const Command&) {
  auto options = std::make_shared<Arguments>();
  sub.footer(kMetricsFooter);
  sub.add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  CLI::Option* events = sub.add_option("--events", options->pattern,
                                       "List the event names that can be opened; with PATTERN (* "
                                       "and ? are wildcards) only those that match")
                            ->expected(0, 1)
                            ->type_name("[PATTERN]");
  return [options, events] {
    return events->count() > 0 ? PrintEvents(*options) : PrintCapabilities(*options);
  };
}

}  // namespace jprof::cli
