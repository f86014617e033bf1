// `jprof metrics`: what this machine offers and, for what it lacks, why and what to change.
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "ptm/capabilities.h"
#include "ptm/names/event_name.h"
#include "record/interrupt_cost.h"

namespace jprof::cli {
namespace {

using record::InterruptText;
using record::KnownInterruptNanos;

using nlohmann::ordered_json;

constexpr char kMetricsFooter[] = R"(Examples:
  jprof metrics                          what can be measured here, and why not more
  jprof metrics --events                 every event name that this machine can count now
  jprof metrics --events 'PAPI_*'        the PAPI presets among them
  jprof metrics --events fault           names with "fault" in them
  jprof metrics --format json            the same for programs
  jprof callflow --metrics time+perf::PAGE-FAULTS -- java -jar app.jar

Names, and what each kind of metric needs: docs/METRICS.md)";

struct MetricsOptions {
  std::string format = "text";
  std::string pattern;
  bool events = false;
};

bool Matches(const std::string& name, const std::string& pattern) {
  return fnmatch(("*" + pattern + "*").c_str(), name.c_str(), FNM_CASEFOLD) == 0;
}

struct EventList {
  std::vector<std::string> open;
  size_t known = 0;        // names that match
  std::string first_lack;  // why the first one that does not open does not
};

// Of the known names that match, those that open. Opening each is the only way to know.
EventList ListEvents(const std::string& pattern) {
  EventList list;
  for (const std::string& name : ptm::KnownEvents()) {
    if (!Matches(name, pattern)) continue;
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

int PrintEvents(const MetricsOptions& options) {
  const EventList list = ListEvents(options.pattern);
  if (list.known == 0) {
    fmt::print(stderr,
               "jprof metrics: no event name matches '{}'; `jprof metrics --events` lists them\n",
               options.pattern);
    return 2;
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

// PAPI as one more capability: its version, and how many of its presets really open.
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

int PrintCapabilities(const MetricsOptions& options) {
  const ptm::Machine machine = ptm::ReadMachine();
  std::vector<ptm::Capability> capabilities = ptm::FindCapabilities(machine);
  capabilities.push_back(Papi());
  const auto interrupt = KnownInterruptNanos();
  if (options.format == "json") {
    ordered_json metrics = ordered_json::array();
    for (const ptm::Capability& capability : capabilities) metrics.push_back(ToJson(capability));
    ordered_json paranoid = nullptr;
    if (machine.paranoid) paranoid = *machine.paranoid;
    ordered_json interrupt_ns = nullptr;
    if (interrupt) interrupt_ns = *interrupt;
    fmt::print("{}\n", ordered_json{{"kernel", Kernel()},
                                    {"virtual_machine", machine.virtual_machine},
                                    {"pmu", machine.pmu},
                                    {"perf_event_paranoid", paranoid},
                                    {"interrupt_ns", interrupt_ns},
                                    {"metrics", metrics}}
                           .dump(2));
    return 0;
  }
  fmt::print("Metrics on this machine ({}{})\n", Kernel(),
             machine.virtual_machine ? ", virtual machine" : "");
  for (const ptm::Capability& capability : capabilities) PrintCapability(capability);
  fmt::print("An interrupt of a timer costs {}\n",
             interrupt ? InterruptText(*interrupt)
                       : "what `jprof calibrate`, or sampling at a high rate, will measure");
  fmt::print("Event names that can be counted here: jprof metrics --events\n");
  return 0;
}

}  // namespace

void AddMetricsCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "metrics", "What this machine can measure and, for what it cannot, why and what to change");
  auto options = std::make_shared<MetricsOptions>();
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  CLI::Option* events = command
                            ->add_option("--events", options->pattern,
                                         "List the event names that open, only those with PATTERN "
                                         "in them (* and ? stand for anything)")
                            ->expected(0, 1)
                            ->type_name("[PATTERN]");
  command->footer(kMetricsFooter);
  command->callback([options, events, &exit_code] {
    exit_code = events->count() > 0 ? PrintEvents(*options) : PrintCapabilities(*options);
  });
}

}  // namespace jprof::cli
