// The option table: one row describes one option completely. These are derived from it:
// - the parser and the printer of the agent string,
// - the flags of `jprof callflow|calltree|locks|objects|trace|scs`,
// - HELP and the table in docs/AGENT_OPTIONS.md.
//
// To add an option, add a member to AgentOptions and a row to the table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "options/agent_options.h"

namespace jprof::options {

// Each of these types states what an option sets, by the type of its value.
struct ModeOption {
  Mode mode;  // kScs may have a value, the list of events
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
  bool needed = false;  // an empty list is wrong
};
struct Size {
  uint64_t AgentOptions::*member;
  uint64_t least, most;
};
struct Number {
  uint64_t AgentOptions::*member;
  uint64_t most;  // the least is 1
};
// A number of seconds, which may have the unit s, m or h.
struct Seconds {
  uint64_t AgentOptions::*member;
  uint64_t most;  // the least is 1
};
// Sets AgentOptions::rate. With `sample` it is that of SAMPLE, which adds samples to kCalltree and
// whose value is optional; otherwise it is that of kScs.
struct Rate {
  bool sample;
};
template <typename E>
struct Choice {
  E AgentOptions::*member;
  std::span<const std::string_view> names;  // in the order of the enumerators
};
using Target =
    std::variant<ModeOption, Flag, Path, List, Patterns, Size, Number, Seconds, Rate,
                 Choice<TraceMode>, Choice<ProbeChoice>, Choice<Counter>, Choice<ptm::TimerSource>,
                 Choice<Children>, Choice<Hooks>, Choice<Live>>;

// A set of commands. With kNoCommand the option is only available in an agent string.
enum Commands : uint8_t {
  kNoCommand = 0,
  kCallflowCommand = 1,
  kCalltreeCommand = 2,
  kTraceCommand = 4,
  kScsCommand = 8,
  kLocksCommand = 16,
  kObjectsCommand = 32,
  kProbeCommands = kCallflowCommand | kCalltreeCommand | kTraceCommand,
  kCallCommands = kProbeCommands | kObjectsCommand,
  kTreeCommands =
      kCallflowCommand | kCalltreeCommand | kScsCommand | kLocksCommand | kObjectsCommand,
  kSampleCommands = kCalltreeCommand | kScsCommand,
  kAllCommands = 63,
};
Commands CommandOf(Mode mode);

inline constexpr char kWhatIsRecorded[] = "What is recorded";
inline constexpr char kMemory[] = "Memory";
inline constexpr char kRarelyNeeded[] = "Rarely needed";

struct Option {
  std::string_view name;
  std::string_view aliases;   // separated by blanks
  std::string_view flag;      // "-o,--out"; empty if there is none
  std::string_view argument;  // the value in help: "DIR", or "[=N]" if the value is optional
  Target target;
  uint8_t commands;  // the set of Commands that have the flag
  std::string_view help;
  const char* group = "Options";  // the heading of the command's help

  bool TakesValue() const { return !argument.empty(); }
  bool NeedsValue() const { return TakesValue() && !argument.starts_with('['); }
};

std::span<const Option> OptionTable();

// Finds an option by name or alias, ignoring case. Returns null if there is none.
const Option* FindOption(std::string_view name);

// Returns "FOCUS", or "--focus".
std::string_view NameOf(const Option& option, Interface interface);

// Parses the value and sets the option. Escapes (%XX) in a path are replaced only in an agent
// string.
Checked Set(const Option& option, std::string_view value, Interface interface,
            AgentOptions& options);

// Returns the value as text for an agent string. It is "" for a flag, and nothing if `options` has
// the option's default.
std::optional<std::string> ValueOf(const Option& option, const AgentOptions& options);

// Returns the help text with the default and the bounds of the value.
std::string HelpOf(const Option& option);

// Returns the names of a Choice, and none for other options.
std::span<const std::string_view> ChoicesOf(const Option& option);

// Returns the rows of the table in docs/AGENT_OPTIONS.md.
std::string OptionsMarkdown();

}  // namespace jprof::options
