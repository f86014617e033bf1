// `jprof events`: lists, searches and describes events that can be counted, and checks whether they
// fit together. With a file, it is about the events that programs write (cli/events/files.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/events/files.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/event_pattern.h"
#include "cli/shared/json_output.h"
#include "cli/shared/usage_error.h"
#include "events/generate/generate.h"
#include "ptm/names/event_name.h"

namespace jprof::cli {
namespace {

constexpr char kEventsFooter[] =
    R"(jprof opens an event to find out whether it can be counted. See docs/COUNTERS.md

With a file it is about events that programs write, see docs/EVENTS.md:
  generate SPEC    write stubs, readers, the reference or metadata of a specification
  check SPEC       print the ids of its events; --identities compares them with those kept
  show TRACE       how often each event is in a trace, and its statistics
  follow TRACE     print the events of a trace, of a running program as they come

Examples:
  jprof events                                 all known names; "yes": can be counted here
  jprof events cache                           those with "cache" in their name or description
  jprof events --here                          only those that can be counted
  jprof events PAPI_TOT_INS                    what it is, and whether it can be counted here
  jprof events --together PAPI_TOT_INS,PAPI_TOT_CYC,PAPI_L1_DCM
                                               whether they can be counted at the same time
  jprof events check shop.xml                  whether a specification is valid, and its ids
  jprof events generate shop.xml --language c --out generated
                                               functions by which a program writes its events
  jprof events show trace --by thread          what each thread of a program has written
  jprof events follow trace --event 'shop::*'  what it writes now)";

struct EventsArguments {
  std::string pattern, together, file;
  EventFilesArguments files;
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

struct FileAction {
  std::string_view name;
  std::string_view file;  // what it requires
  Result<int> (*run)(const std::string& file, const EventFilesArguments& arguments);
};

constexpr FileAction kFileActions[] = {{"generate", "SPEC", GenerateEvents},
                                       {"check", "SPEC", CheckEvents},
                                       {"show", "TRACE", ShowEvents},
                                       {"follow", "TRACE", FollowEvents}};

Result<int> RunOnFile(const EventsArguments& arguments) {
  const auto action = std::ranges::find(kFileActions, arguments.pattern, &FileAction::name);
  if (action == std::end(kFileActions))
    return WrongUse(
        "{} is one argument too many; before a file name what to do: jprof events "
        "generate|check|show|follow {}",
        arguments.file, arguments.file);
  return action->run(arguments.file, arguments.files);
}

Result<int> Events(const EventsArguments& arguments) {
  if (!arguments.file.empty()) return RunOnFile(arguments);
  const auto action = std::ranges::find(kFileActions, arguments.pattern, &FileAction::name);
  if (action != std::end(kFileActions))
    return WrongUse("jprof events {0} requires {1}; to search for the word, use '*{0}*'",
                    action->name, action->file);
  const auto format = Choose("--format", arguments.files.format, {"text", "json"});
  if (!format) return std::unexpected(format.error());
  if (!arguments.together.empty()) return Together(arguments.together);
  const bool exact =
      !arguments.pattern.empty() &&
      (ptm::IsBuiltInMetric(arguments.pattern) || ptm::ResolveEvent(arguments.pattern).has_value());
  const bool json = *format == 1;
  return exact ? Describe(arguments.pattern, json) : Search(arguments, json);
}

std::string LanguageNames() {
  std::string names;
  for (const events::Language& one : events::kLanguages)
    names += fmt::format("{}{}", names.empty() ? "" : "|", one.name);
  return names;
}

}  // namespace

Action EventsCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<EventsArguments>();
  line.Footer(kEventsFooter);
  line.Option("PATTERN", arguments->pattern, "",
              "A name to describe, or a text to search for in names and descriptions");
  line.Option("FILE", arguments->file, "FILE",
              "After generate or check, a specification; after show or follow, the directory of a "
              "trace");
  line.Flag("--here", arguments->here, "List only events that can be counted on this machine");
  line.Option("--together", arguments->together, "A,B,C",
              "Check whether A,B,C can be counted at the same time");
  line.Option("--format", arguments->files.format, "text|json", "text (default) or json");
  line.Group("Events of programs");
  line.Option("--language", arguments->files.language, LanguageNames(),
              "What generate writes: stubs of a language, the reference, or metadata");
  line.Option("--out", arguments->files.out, "DIR", "Where generate writes");
  line.Option("--identities", arguments->files.identities, "FILE",
              "The kept output of check: fail if an event has changed without a new version");
  line.Option("--by", arguments->files.by, "process|thread|processor",
              "Rows of show: by process, by thread, or by the processor that records contain");
  line.Option("--event", arguments->files.event, "PATTERN",
              "What follow prints: events with this name, in which * is any text");
  return [arguments] { return Events(*arguments); };
}

}  // namespace jprof::cli
