#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shell/completion.h"

namespace jprof::cli {
namespace {

std::string FishText(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "'";
}

// Returns the options of `complete` for this kind of value.
std::string FishValue(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kFile:
      return " -r -F";
    case Argument::Kind::kDirectory:
    case Argument::Kind::kProfile:
      return " -x -a '(__fish_complete_directories)'";
    case Argument::Kind::kProcess:
      return " -x -a '(__fish_complete_pids)'";
    case Argument::Kind::kMetrics:
      return " -x -a '(__jprof_metrics)'";
    case Argument::Kind::kChoice:
      return fmt::format(" -x -a '{}'", fmt::join(argument.choices, " "));
    case Argument::Kind::kText:
      break;
  }
  return " -x";
}

std::string FishOption(const Argument& option, const std::string& when) {
  std::string text = "complete -c jprof" + when;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.IsFlag() && !option.optional_value) text += FishValue(option);
  return text + " -d " + FishText(option.help) + "\n";
}

std::string FishCommand(const CommandNode& command) {
  const std::string when = fmt::format(" -n '__jprof_in {}'", command.name);
  std::string text;
  for (const Argument& option : command.Options()) text += FishOption(option, when);
  for (const Argument& argument : command.Positionals()) {
    if (argument.kind != Argument::Kind::kText)
      text += "complete -c jprof" + when + FishValue(argument) + "\n";
  }
  return text;
}

constexpr char kFishStart[] = R"(# fish completion for jprof, written by: jprof completion fish

# The words before the cursor contain "--": a command follows.
function __jprof_runs
    contains -- -- (commandline -opc)
end
function __jprof_in
    not __jprof_runs; and __fish_seen_subcommand_from $argv
end
function __jprof_first
    not __jprof_runs; and __fish_use_subcommand
end
# The lists that continue the current one by a metric that is not in it. The program of the command
# line knows the names.
function __jprof_metrics
    set -l list (string replace -r -- '^--[a-z]+=' '' (commandline -ct))
    set -l before (string match -r -- '^.*[+,]' $list)
    set -l known (string split -- , (string replace -a -- + , "$before"))
    set -l words (commandline -opc)
    set -l program (string replace -r -- '^~/' "$HOME/" $words[1])
    for name in time dispatches ($program metrics --events 2>/dev/null)
        contains -- $name $known; or echo "$before$name"
    end
end
function __jprof_program
    set -l words (commandline -opc) (commandline -ct)
    set -l mark (contains -i -- -- $words)
    complete -C (string join ' ' -- $words[(math $mark + 1)..-1])
end

complete -c jprof -f
complete -c jprof -n __jprof_runs -a '(__jprof_program)'
)";

}  // namespace

std::string FishCompletion(const CommandNode& root) {
  std::string text = kFishStart;
  for (const CommandNode& command : root.commands)
    text += fmt::format("complete -c jprof -n __jprof_first -a {} -d {}\n", command.name,
                        FishText(command.description));
  for (const Argument& option : root.Options()) text += FishOption(option, " -n __jprof_first");
  for (const CommandNode& command : root.commands) text += FishCommand(command);
  return text;
}

}  // namespace jprof::cli
