#include "cli/shared/record_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "options/option_table.h"

namespace jprof::cli {
namespace {

constexpr uint64_t kMostSeconds = 1'000'000;
constexpr uint64_t kMostPieces = 10'000;

// Returns the choices, such as "auto|perf|posix", or the word of the table, such as "DIR".
std::string ValueName(const options::Option& option, std::string_view word) {
  const auto choices = options::ChoicesOf(option);
  return choices.empty() ? std::string(word) : fmt::format("{}", fmt::join(choices, "|"));
}

void AddFlag(CommandLine line, const options::Option& option, TypedOptions& typed,
             const std::string& help) {
  line.Group(option.group);
  const std::string flag(option.flag);
  const auto set = [&typed, &option](const std::string& value) {
    auto done = options::Set(option, value, options::Interface::kCommandLine, typed.options);
    if (!done && !typed.error) typed.error = std::move(done.error());
  };
  if (option.flag == "--event") {
    line.Option(flag, typed.events, "E[=N]", help).Repeatable();
  } else if (option.flag == "--metrics") {
    line.Option(flag, typed.metrics, std::string(option.argument), help);
  } else if (option.flag == "--distribution" || option.flag == "--within") {
    line.Option(flag, std::function(set), std::string(option.argument), help).JoinedBy(',');
  } else if (option.NeedsValue()) {
    line.Option(flag, std::function(set), ValueName(option, option.argument), help);
  } else if (option.TakesValue()) {  // "[=DIR]"
    const std::string_view argument = option.argument.substr(std::string_view("[=").size());
    line.Option(flag, std::function(set), ValueName(option, argument.substr(0, argument.find(']'))),
                help)
        .OptionalValue();
  } else {
    line.Flag(
        flag, [set] { set(""); }, help);
  }
}

// Returns a function that stores the value of an option, which may be empty.
std::function<void(const std::string&)> SetterOf(std::optional<std::string>& variable) {
  return [&variable](const std::string& value) { variable = value; };
}

// Fails if the first argument that is not declared looks like an option.
Result<void> CheckUnknownOption(const CommandLine& line) {
  const auto others = line.Others();
  if (others.empty() || !others.front().starts_with('-')) return {};
  return WrongUse("{}", line.UnknownText(others.front()));
}

}  // namespace

void AddOptions(CommandLine line, TypedOptions& typed) {
  for (const options::Option& option : options::OptionTable()) {
    const bool has = (option.commands & options::CommandOf(typed.options.mode)) != 0;
    if (has && !option.flag.empty()) AddFlag(line, option, typed, options::HelpOf(option));
  }
  AddCommandOptions(line, typed);
}

void AddOption(CommandLine line, std::string_view flag, TypedOptions& typed, std::string help) {
  const auto option = std::ranges::find(options::OptionTable(), flag, &options::Option::flag);
  AddFlag(line, *option, typed, help.empty() ? options::HelpOf(*option) : help);
}

void AddOptionsOfRuns(CommandLine line, TypedOptions& typed) {
  typed.options.rate = kRateOfRuns;
  AddOption(line, "--rate", typed,
            fmt::format("samples per second of a thread's CPU time (default {})", kRateOfRuns));
  AddOption(line, "--tree-memory", typed);
  AddOption(line, "--children", typed,
            "which JVMs of the command to record: no, first or all; the report is about the one "
            "that used the most CPU time (default: no for java, else all)");
  AddCommandOptions(line, typed);
}

void AddCommandOptions(CommandLine line, TypedOptions& typed) {
  line.Group(CommandLine::kOptions);
  line.Flag("--force", typed.force,
            "replace an existing profile; allow limits above a third of the available memory");
  line.Group(options::kRarelyNeeded);
  line.Option("--agent", typed.agent, "LIB",
              "the agent library (default: JPROF_AGENT, or libjprof.so of this installation)");
}

void AddSeriesOption(CommandLine line, TypedOptions& typed) {
  line.Group(CommandLine::kOptions);
  line.Option("--series", SetterOf(typed.series), "INTERVAL",
              "also keep counts over time: a snapshot every INTERVAL (1s, 500ms; at least 100ms), "
              "for --window of reports and report series");
}

void AddRotateOptions(CommandLine line, TypedOptions& typed) {
  line.Group(CommandLine::kOptions);
  line.Option("--rotate", SetterOf(typed.rotate), "LENGTH",
              "also write a profile of each piece of LENGTH (10m, 1h; at least 1s), in the folder "
              "pieces of the profile");
  line.Option("--keep", typed.keep, "N", "with --rotate: keep the last N pieces (default: all)")
      .Between(uint64_t{1}, kMostPieces)
      .Needs("--rotate");
}

Result<void> CheckCommand(const CommandLine& line, const Command& command) {
  if (auto known = CheckUnknownOption(line); !known) return known;
  const auto others = line.Others();
  if (!others.empty() || command.empty()) {
    return others.empty()
               ? WrongUse("name the program to profile: jprof {} -- java -jar app.jar", line.Name())
               : WrongUse("put -- before the program: jprof {} -- {} ...", line.Name(),
                          others.front());
  }
  return {};
}

void AddAttachOptions(CommandLine line, options::Mode mode, AttachArguments& arguments) {
  line.Group(CommandLine::kOptions);
  line.Option("--pid", arguments.pid, "PID",
              "record this JVM, which runs already, instead of a command; `jprof ps` lists them");
  if (mode == options::Mode::kScs) return;  // the agent has the option
  line.Option("--duration", arguments.duration, "S",
              "with --pid: seconds to record (default: until Ctrl-C or the JVM's end)")
      .Between(uint64_t{1}, kMostSeconds);
}

Result<void> CheckAttach(const CommandLine& line, const TypedOptions& typed,
                         const AttachArguments& arguments, const Command& command) {
  if (arguments.pid.empty()) {
    if (arguments.duration == 0) return {};
    return WrongUse("--duration needs --pid: a command is recorded until it ends");
  }
  if (auto known = CheckUnknownOption(line); !known) return known;
  if (!line.Others().empty() || !command.empty())
    return WrongUse("give either --pid or a command, not both");
  if (typed.options.children != options::Children::kAuto)
    return WrongUse("--children is about the JVMs that a command starts: leave it out with --pid");
  return {};
}

}  // namespace jprof::cli
