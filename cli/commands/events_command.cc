// `jprof events`: lists, searches and describes events, and checks whether they fit together.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/event_pattern.h"
#include "cli/shared/record_options.h"
#include "cli/shared/usage_error.h"
#include "ptm/names/event_name.h"

namespace jprof::cli {
namespace {

using nlohmann::ordered_json;

constexpr char kEventsFooter[] = R"(Examples:
  jprof events                                 all known names; "yes": can be counted here
  jprof events cache                           those with "cache" in their name or description
  jprof events --here                          only those that can be counted
  jprof events PAPI_TOT_INS                    one event: description, other names, and whether it can be counted here
  jprof events --together PAPI_TOT_INS,PAPI_TOT_CYC,PAPI_L1_DCM
                                               whether this CPU counts them at the same time (exit status 0 or 1)

jprof opens an event to find out whether it can be counted. See docs/COUNTERS.md)";

struct EventsArguments {
  std::string pattern, together, format = "text";
  bool here = false;
};

struct Listed {
  std::string name, description, lack;  // lack is empty if it can be counted
};

std::vector<Listed> List(const EventsArguments& arguments) {
  std::vector<std::string> names = {"time", "dispatches"};
  for (std::string& name : ptm::KnownEvents()) names.push_back(std::move(name));
  std::vector<Listed> listed;
  for (const std::string& name : names) {
    Listed one = {.name = name, .description = ptm::DescribeEvent(name), .lack = ""};
    if (!MatchesPattern(name, arguments.pattern) &&
        !MatchesPattern(one.description, arguments.pattern))
      continue;
    const auto event = ptm::CheckMetrics({&name, 1});
    if (!event) one.lack = event.error().message;
    if (one.lack.empty() || !arguments.here) listed.push_back(std::move(one));
  }
  return listed;
}

void PrintList(const std::vector<Listed>& listed, reports::Format format) {
  if (format == reports::Format::kJson) {
    ordered_json events = ordered_json::array();
    for (const Listed& one : listed) {
      events.push_back({{"name", one.name},
                        {"here", one.lack.empty()},
                        {"description", one.description},
                        {"lack", one.lack}});
    }
    fmt::print("{}\n", ordered_json{{"events", events}}.dump(
                           2, ' ', false, ordered_json::error_handler_t::replace));
    return;
  }
  size_t width = 4;
  for (const Listed& one : listed) width = std::max(width, std::min<size_t>(one.name.size(), 40));
  fmt::print("HERE  {:<{}}  DESCRIPTION\n", "NAME", width);
  for (const Listed& one : listed) {
    fmt::print("{:<4}  {:<{}}  {}\n", one.lack.empty() ? "yes" : "-", one.name, width,
               one.description);
  }
}

Result<int> Search(const EventsArguments& arguments, reports::Format format) {
  const std::vector<Listed> listed = List(arguments);
  if (listed.empty()) {
    return WrongUse(
        "no event has '{}' in its name or description{}; `jprof events` lists all events",
        arguments.pattern, arguments.here ? " and can be counted here" : "");
  }
  PrintList(listed, format);
  const auto lacks = [](const Listed& one) { return !one.lack.empty(); };
  if (const auto first = std::ranges::find_if(listed, lacks); first != listed.end()) {
    PrintError(fmt::format("{} of {} cannot be counted, e.g. {}",
                           std::ranges::count_if(listed, lacks), listed.size(), first->lack));
  }
  return 0;
}

int Describe(const std::string& name, reports::Format format) {
  const bool built_in = ptm::IsBuiltInMetric(name);
  const auto event = ptm::ResolveEvent(name);
  const auto checked = ptm::CheckMetrics({&name, 1});
  const std::vector<std::string> others = ptm::OtherNames(name);
  const std::string description = ptm::DescribeEvent(name);
  if (format == reports::Format::kJson) {
    fmt::print("{}\n", ordered_json{{"name", name},
                                    {"description", description},
                                    {"counts", built_in ? name : event->native},
                                    {"other_names", others},
                                    {"here", checked.has_value()},
                                    {"lack", checked ? "" : checked.error().message}}
                           .dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return 0;
  }
  const auto line = [](const char* what, std::string_view text) {
    if (!text.empty()) fmt::print("{:<12} {}\n", what, text);
  };
  line("name", name);
  line("is", description);
  line("counts", built_in ? "counted by jprof itself" : event->native);
  line("also called", fmt::format("{}", fmt::join(others, ", ")));
  line("here", checked ? "yes" : "no: " + checked.error().message);
  if (checked && !checked->notes.empty()) line("note", checked->notes.front());
  return 0;
}

Result<int> Together(const std::string& list) {
  const auto metrics = ptm::CheckMetrics(SplitMetrics(list));
  if (!metrics) return std::unexpected(metrics.error());
  std::vector<ptm::EventSpec> events;
  for (const ptm::CheckedMetric& metric : metrics->metrics) {
    if (metric.event) events.push_back(*metric.event);
  }
  const std::vector<size_t> apart = ptm::DoNotFit(events);
  if (apart.empty()) {
    fmt::print("all {} count together on this CPU\n", metrics->metrics.size());
    return 0;
  }
  std::vector<std::string> names;
  for (const size_t i : apart) names.push_back(events[i].name);
  fmt::print(
      "they do not fit on this CPU's counters together: "
      "{} would be multiplexed with those before\n",
      fmt::join(names, ", "));
  return 1;
}

Result<int> Events(const EventsArguments& arguments) {
  const auto format = Choose("--format", arguments.format, {"text", "json"});
  if (!format) return std::unexpected(format.error());
  if (!arguments.together.empty()) return Together(arguments.together);
  const bool exact =
      !arguments.pattern.empty() &&
      (ptm::IsBuiltInMetric(arguments.pattern) || ptm::ResolveEvent(arguments.pattern).has_value());
  const auto as = static_cast<reports::Format>(*format);
  return exact ? Result<int>(Describe(arguments.pattern, as)) : Search(arguments, as);
}

}  // namespace

Action EventsCommand(CLI::App& sub, const Command&) {
  auto arguments = std::make_shared<EventsArguments>();
  sub.footer(kEventsFooter);
  sub.add_option("PATTERN", arguments->pattern,
                 "A name to describe, or a text to search for in names and descriptions");
  sub.add_flag("--here", arguments->here, "List only events that can be counted on this machine");
  sub.add_option("--together", arguments->together,
                 "Check whether A,B,C can be counted at the same time")
      ->type_name("A,B,C");
  sub.add_option("--format", arguments->format, "text (default) or json")->type_name("text|json");
  return [arguments] { return Events(*arguments); };
}

}  // namespace jprof::cli
