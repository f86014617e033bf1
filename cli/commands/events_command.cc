// `jprof events`: lists, searches and describes events, and checks whether they fit together.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/event_pattern.h"
#include "cli/shared/json_output.h"
#include "cli/shared/usage_error.h"
#include "ptm/names/event_name.h"

namespace jprof::cli {
namespace {

constexpr char kEventsFooter[] =
    R"(jprof opens an event to find out whether it can be counted. See docs/COUNTERS.md

Examples:
  jprof events                                 all known names; "yes": can be counted here
  jprof events cache                           those with "cache" in their name or description
  jprof events --here                          only those that can be counted
  jprof events PAPI_TOT_INS                    what it is, and whether it can be counted here
  jprof events --together PAPI_TOT_INS,PAPI_TOT_CYC,PAPI_L1_DCM
                                               whether they can be counted at the same time)";

struct EventsArguments {
  std::string pattern, together, format = "text";
  bool here = false;
};

struct Listed {
  std::string name, description;
  std::string why_not;  // why it cannot be counted here; empty if it can

  bool CanBeCounted() const { return why_not.empty(); }
};

std::vector<Listed> List(const EventsArguments& arguments) {
  std::vector<std::string> names = {"time", "dispatches"};
  for (std::string& name : ptm::KnownEvents()) names.push_back(std::move(name));
  std::vector<Listed> listed;
  for (const std::string& name : names) {
    Listed one = {.name = name, .description = ptm::DescribeEvent(name), .why_not = ""};
    if (!MatchesPattern(name, arguments.pattern) &&
        !MatchesPattern(one.description, arguments.pattern))
      continue;
    const auto event = ptm::CheckMetrics({&name, 1});
    if (!event) one.why_not = event.error().message;
    if (one.CanBeCounted() || !arguments.here) listed.push_back(std::move(one));
  }
  return listed;
}

Result<void> PrintJson(const std::vector<Listed>& listed) {
  return PrintIndentedJson([&](reports::JsonWriter& json) {
    json.StartObject();
    json.Key("events");
    json.StartArray();
    for (const Listed& one : listed) {
      json.StartObject();
      json.Member("name", one.name);
      json.Member("here", one.CanBeCounted());
      json.Member("description", one.description);
      json.Member("lack", one.why_not);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  });
}

void PrintText(const std::vector<Listed>& listed) {
  size_t width = 4;
  for (const Listed& one : listed) width = std::max(width, std::min<size_t>(one.name.size(), 40));
  fmt::print("HERE  {:<{}}  DESCRIPTION\n", "NAME", width);
  for (const Listed& one : listed) {
    fmt::print("{:<4}  {:<{}}  {}\n", one.CanBeCounted() ? "yes" : "-", one.name, width,
               one.description);
  }
}

Result<int> Search(const EventsArguments& arguments, bool json) {
  const std::vector<Listed> listed = List(arguments);
  if (listed.empty()) {
    return WrongUse(
        "no event has '{}' in its name or description{}; `jprof events` lists all events",
        arguments.pattern, arguments.here ? " and can be counted here" : "");
  }
  if (json) {
    if (auto printed = PrintJson(listed); !printed) return std::unexpected(printed.error());
  } else {
    PrintText(listed);
  }
  const auto first = std::ranges::find(listed, false, &Listed::CanBeCounted);
  if (first != listed.end()) {
    PrintError(fmt::format("{} of {} cannot be counted, e.g. {}",
                           std::ranges::count(listed, false, &Listed::CanBeCounted), listed.size(),
                           first->why_not));
  }
  return 0;
}

Result<int> Describe(const std::string& name, bool as_json) {
  const bool built_in = ptm::IsBuiltInMetric(name);
  const auto event = ptm::ResolveEvent(name);
  const auto checked = ptm::CheckMetrics({&name, 1});
  const std::vector<std::string> others = ptm::OtherNames(name);
  const std::string description = ptm::DescribeEvent(name);
  if (as_json) {
    return StatusOf(PrintIndentedJson([&](reports::JsonWriter& json) {
      json.StartObject();
      json.Member("name", name);
      json.Member("description", description);
      json.Member("counts", built_in ? name : event->native);
      json.StringsMember("other_names", others);
      json.Member("here", checked.has_value());
      json.Member("lack", checked ? "" : checked.error().message);
      json.EndObject();
    }));
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
  const auto metrics = ptm::CheckMetrics(ptm::SplitNames(list));
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
  const bool json = *format == 1;
  return exact ? Describe(arguments.pattern, json) : Search(arguments, json);
}

}  // namespace

Action EventsCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<EventsArguments>();
  line.Footer(kEventsFooter);
  line.Option("PATTERN", arguments->pattern, "",
              "A name to describe, or a text to search for in names and descriptions");
  line.Flag("--here", arguments->here, "List only events that can be counted on this machine");
  line.Option("--together", arguments->together, "A,B,C",
              "Check whether A,B,C can be counted at the same time");
  line.Option("--format", arguments->format, "text|json", "text (default) or json");
  return [arguments] { return Events(*arguments); };
}

}  // namespace jprof::cli
