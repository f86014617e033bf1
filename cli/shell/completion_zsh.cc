#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shell/completion.h"

namespace jprof::cli {
namespace {

// Escapes text between single quotes in a specification of _arguments.
std::string ZshText(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (c == ':' || c == '[' || c == ']' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted;
}

std::string ZshAction(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kFile:
      return "_files";
    case Argument::Kind::kDirectory:
    case Argument::Kind::kProfile:
      return "_files -/";
    case Argument::Kind::kProcess:
      return "_pids";
    case Argument::Kind::kMetrics:
      return "_jprof_metrics";
    case Argument::Kind::kChoice:
      return fmt::format("({})", fmt::join(argument.choices, " "));
    case Argument::Kind::kText:
      break;
  }
  return " ";
}

// Returns the specification of _arguments for an option, such as
// '(-o --out)'{-o,--out=}'[help]:DIR:_files -/'.
std::string ZshOption(const Argument& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    const bool long_value = !option.IsFlag() && name.starts_with("--");
    names.push_back(name + (!long_value ? "" : option.optional_value ? "=-" : "="));
  }
  std::string text = names.size() > 1 ? fmt::format("'({})'{{{}}}'", fmt::join(option.names, " "),
                                                    fmt::join(names, ","))
                                      : "'" + names.front();
  text += "[" + ZshText(option.help) + "]";
  if (!option.IsFlag())
    text += fmt::format("{}{}:{}", option.optional_value ? "::" : ":", ZshText(option.value),
                        ZshAction(option));
  return text + "'";
}

std::string ZshCommand(const CommandNode& command) {
  std::string text = fmt::format("    {})\n      _arguments -s", command.name);
  for (const Argument& option : command.Options()) text += " \\\n        " + ZshOption(option);
  for (const Argument& argument : command.Positionals())
    text += fmt::format(" \\\n        '{}:{}:{}'", argument.repeated ? "*" : "",
                        ZshText(argument.value), ZshAction(argument));
  return text + "\n      ;;\n";
}

constexpr char kZshStart[] = R"script(#compdef jprof
# zsh completion for jprof, written by: jprof completion zsh

# A list of metrics, separated by + or ,. The program of the command line knows the names.
_jprof_metrics() {
  local -a names=(${(f)"$(_call_program metrics $jprof metrics --events 2>/dev/null)"})
  names+=(time dispatches)
  compset -P '*[+,]'
  local -a known=(${(s:,:)${${IPREFIX#--*=}//+/,}})
  names=(${names:|known})
  compadd -M 'm:{a-z}={A-Z}' -S '' -a names
}

_jprof() {
  local jprof=$words[1]
  local -i mark=${words[(i)--]}
  if (( mark < CURRENT )); then  # the command after --
    shift mark words
    (( CURRENT -= mark ))
    _normal
    return
  fi
  if (( CURRENT == 2 )); then
    local -a commands=(
)script";

constexpr char kZshMiddle[] = R"(    )
    _describe -t commands 'jprof command' commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
)";

constexpr char kZshEnd[] = R"(  esac
}

if [[ $funcstack[1] == _jprof ]]; then
  _jprof "$@"
else
  compdef _jprof jprof
fi
)";

}  // namespace

std::string ZshCompletion(const CommandNode& root) {
  std::string text = kZshStart;
  for (const CommandNode& command : root.commands)
    text += fmt::format("      '{}:{}'\n", command.name, ZshText(command.description));
  text += kZshMiddle;
  for (const CommandNode& command : root.commands) text += ZshCommand(command);
  return text + kZshEnd;
}

}  // namespace jprof::cli
