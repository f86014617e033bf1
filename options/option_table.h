// The table of options: one row has everything that is known about an option. From it come the
// parser and the printer of the agent string, the flags of `jprof callflow|calltree|trace|scs`,
// HELP, and the table in docs/AGENT_OPTIONS.md. A new option is a member of AgentOptions and a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "options/agent_options.h"

namespace jprof::agent {

// What an option sets, by the type of its value.
struct ModeWord {
  Mode mode;  // kScs: may have a value, the events
};
struct Flag {
  bool AgentOptions::*member;
  bool value = true;
};
struct Path {
  std::string AgentOptions::*member;
};
struct List {
  std::vector<std::string> AgentOptions::*member;
  size_t most;
};
struct Patterns {
  Filter AgentOptions::*member;
  Names names;
};
struct Size {
  uint64_t AgentOptions::*member;
  uint64_t least, most;
};
struct Number {
  uint64_t AgentOptions::*member;
  uint64_t most;  // the least is 1
};
// AgentOptions::rate: of kScs, or of the samples that it adds to kCalltree (value optional).
struct Rate {
  bool sample;
};
template <typename E>
struct Choice {
  E AgentOptions::*member;
  std::span<const std::string_view> words;  // in the order of the enumerators
};
using Target = std::variant<ModeWord, Flag, Path, List, Patterns, Size, Number, Rate,
                            Choice<TraceMode>, Choice<ProbeChoice>, Choice<ptm::TimerSource>>;

// A set of commands; kNoCommand for what only an agent string can say.
enum Commands : uint8_t {
  kNoCommand = 0,
  kCallflowCommand = 1,
  kCalltreeCommand = 2,
  kTraceCommand = 4,
  kScsCommand = 8,
  kProbeCommands = kCallflowCommand | kCalltreeCommand | kTraceCommand,
  kTreeCommands = kCallflowCommand | kCalltreeCommand | kScsCommand,
  kSampleCommands = kCalltreeCommand | kScsCommand,
  kAllCommands = 15,
};
Commands CommandOf(Mode mode);

struct Option {
  std::string_view word;
  std::string_view aliases;   // separated by blanks
  std::string_view flag;      // "-o,--out"; empty: none
  std::string_view argument;  // how help names the value: "DIR"; "[=N]": the value is optional
  Target target;
  uint8_t commands;  // of Commands: those that have the flag
  std::string_view help;

  bool TakesValue() const { return !argument.empty(); }
  bool NeedsValue() const { return TakesValue() && !argument.starts_with('['); }
};

std::span<const Option> OptionTable();

// By word or alias, in any case; null: there is none.
const Option* FindOption(std::string_view word);

// "FOCUS", or "--focus".
std::string_view NameOf(const Option& option, Interface interface);

// Sets the option. In an agent string %XX stands for a byte; a command line has a path verbatim.
Checked Set(const Option& option, std::string_view value, Interface interface,
            AgentOptions& options);

// The text of the value, as an agent string has it; "" for a flag; nothing if `options` has what
// holds without the option.
std::optional<std::string> ValueOf(const Option& option, const AgentOptions& options);

// The help text with the default and the bounds of the value.
std::string HelpOf(const Option& option);

// The rows of the table in docs/AGENT_OPTIONS.md.
std::string OptionsMarkdown();

}  // namespace jprof::agent
