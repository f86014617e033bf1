#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shell/completion.h"

namespace jprof::cli {
namespace {

// Bash splits words at "=", so "--format=js" arrives as three words.
constexpr char kBashBody[] = R"script(
# Sets COMPREPLY to what matches "$2" among the values of the kind "$1".
_jprof_reply() {
  local word
  case $1 in
    file | directory | profile) compopt -o filenames 2>/dev/null ;;
  esac
  case $1 in
    file) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    directory) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    profile)
      while IFS= read -r word; do
        [[ $word == *.jprof || -e $word/control || -e $word/runs.json ]] && COMPREPLY+=("$word")
      done < <(compgen -d -- "$2")
      ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -d -- "$2")
      ;;
    process) mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid= 2>/dev/null)" -- "$2") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
}

# The command after "--", which is word "$1".
_jprof_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  else
    _jprof_reply file "${COMP_WORDS[COMP_CWORD]}"
  fi
}

# Sets COMPREPLY to the lists that continue the list "$1" by a metric that is not in it. The program
# of the command line knows the names. Bash replaces only what follows the last ":".
_jprof_metrics() {
  local list=$1 before=${1%"${1##*[+,]}"} replaced= name
  [[ $COMP_WORDBREAKS == *:* ]] && replaced=${list%"${list##*:}"}
  while IFS= read -r name; do
    [[ ",${before//+/,}" == *",$name,"* ]] && continue
    name=$before$name
    [[ ${name,,} == "${list,,}"* ]] && COMPREPLY+=("${name:${#replaced}}")
  done < <(printf '%s\n' time dispatches
    "${COMP_WORDS[0]/#\~\//$HOME/}" metrics --events 2>/dev/null)
  compopt -o nospace 2>/dev/null
}

# Prints the number of positional arguments of the command "$1" before the cursor.
_jprof_position() {
  local i position=0 seen=
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      "$1") [[ $seen ]] || { seen=yes; continue; } ;;
      -* | =) continue ;;
    esac
    [[ ${COMP_WORDS[i-1]} == = || $(_jprof_value "$1" "${COMP_WORDS[i-1]}") ]] || ((++position))
  done
  echo "$position"
}

_jprof() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= i kind
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      _jprof_program $((i + 1))
      return
    fi
    [[ ! $command && ${COMP_WORDS[i]} != -* ]] && command=${COMP_WORDS[i]}
  done
  if [[ ! $command ]]; then
    _jprof_reply "$_jprof_commands $(_jprof_options '')" "$current"
    return
  fi
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  kind=$(_jprof_value "$command" "$previous")
  if [[ ! $kind || $kind == metrics ]]; then
    # Bash splits words also at ":": "time+perf::CS" arrives as three words.
    local first=$COMP_CWORD list=$current colons='^:+$'
    while ((first > 2)); do
      [[ ${COMP_WORDS[first]} =~ $colons || ${COMP_WORDS[first-1]} =~ $colons ]] || break
      ((--first))
      list=${COMP_WORDS[first]}$list
    done
    ((first < COMP_CWORD)) && previous=${COMP_WORDS[first-1]}
    [[ $previous == = ]] && previous=${COMP_WORDS[first-2]}
    if [[ $(_jprof_value "$command" "$previous") == metrics ]]; then
      _jprof_metrics "$list"
      return
    fi
  fi
  if [[ ! $kind && $current == -* ]]; then
    kind=$(_jprof_options "$command")
  elif [[ ! $kind ]]; then
    kind=$(_jprof_argument "$command" "$(_jprof_position "$command")")
  fi
  [[ $kind == text ]] || _jprof_reply "$kind" "$current"
  # `jprof report` takes a profile in place of a report's name.
  ((${#COMPREPLY[@]})) || [[ $command != report || $current == -* ]] || _jprof_reply profile "$current"
}
complete -F _jprof jprof
)script";

std::string BashKind(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kFile:
      return "file";
    case Argument::Kind::kDirectory:
      return "directory";
    case Argument::Kind::kProfile:
      return "profile";
    case Argument::Kind::kProcess:
      return "process";
    case Argument::Kind::kMetrics:
      return "metrics";
    case Argument::Kind::kChoice:
      return fmt::format("{}", fmt::join(argument.choices, " "));
    case Argument::Kind::kText:
      break;
  }
  return "text";
}

std::string OptionNamesOf(const CommandNode& command) {
  std::string names;
  for (const Argument& option : command.Options())
    names += fmt::format("{}{}", names.empty() ? "" : " ", fmt::join(option.names, " "));
  return names;
}

// Returns the cases of a function over "COMMAND OPTION", which prints what the option's value is.
std::string ValueCases(const CommandNode& command) {
  std::string cases;
  for (const Argument& option : command.Options()) {
    if (option.IsFlag() || option.optional_value) continue;
    std::string patterns;
    for (const std::string& name : option.names)
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : " | ", command.name, name);
    cases += fmt::format("    {}) echo '{}' ;;\n", patterns, BashKind(option));
  }
  return cases;
}

// Returns the cases over "COMMAND POSITION". The last positional argument may be repeated.
std::string PositionCases(const CommandNode& command) {
  std::string cases;
  int position = 0;
  for (const Argument& argument : command.Positionals()) {
    const std::string pattern = argument.repeated ? fmt::format("'{} '*", command.name)
                                                  : fmt::format("'{} {}'", command.name, position);
    cases += fmt::format("    {}) echo '{}' ;;\n", pattern, BashKind(argument));
    ++position;
  }
  return cases;
}

std::string Function(std::string_view name, std::string_view subject, const std::string& cases,
                     std::string_view otherwise) {
  return fmt::format("\n{}() {{\n  case {} in\n{}    *) {} ;;\n  esac\n}}\n", name, subject, cases,
                     otherwise);
}

}  // namespace

std::string BashCompletion(const CommandNode& root) {
  std::string names, options, values, positions;
  options = fmt::format("    '') echo '{}' ;;\n", OptionNamesOf(root));
  for (const CommandNode& command : root.commands) {
    names += (names.empty() ? "" : " ") + command.name;
    options += fmt::format("    {}) echo '{}{}' ;;\n", command.name, OptionNamesOf(command),
                           command.runs_command ? " --" : "");
    values += ValueCases(command);
    positions += PositionCases(command);
  }
  return "# bash completion for jprof, written by: jprof completion bash\n\n_jprof_commands='" +
         names + "'\n" + Function("_jprof_options", "$1", options, "true") +
         Function("_jprof_value", "\"$1 $2\"", values, "true") +
         Function("_jprof_argument", "\"$1 $2\"", positions, "echo text") + kBashBody;
}

}  // namespace jprof::cli
