// Converts the command line of jprof from CLI11 to data, from which completion scripts and manual
// pages are generated. All functions are pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace jprof::cli {

// An option, a flag or a positional argument.
struct Argument {
  enum class Kind { kText, kFile, kDirectory, kProfile, kProcess, kMetrics, kChoice };

  std::vector<std::string> names;    // "-o", "--out"; empty if positional
  std::string title;                 // of a positional argument: "PROFILE"
  std::string group;                 // the heading of the help that an option is listed under
  std::string value;                 // "DIR"; empty for a flag
  std::vector<std::string> choices;  // of kChoice
  Kind kind = Kind::kText;           // what its value is
  bool optional_value = false;       // an option that may be given without its value
  bool repeated = false;             // a positional argument that may be given several times
  bool required = false;
  std::string default_value;
  std::string help;

  bool IsPositional() const { return names.empty(); }
  bool IsFlag() const { return value.empty(); }
};

struct CommandNode {
  std::string name;         // "profile", or "jprof" at the root
  std::string group;        // the heading of the help that it is listed under
  std::string description;  // one line
  std::string footer;       // the end of the help: explanations, then examples
  std::vector<Argument> arguments;
  std::vector<CommandNode> commands;  // of the root
  bool runs_command = false;          // a command may follow "--"

  std::vector<Argument> Positionals() const;
  std::vector<Argument> Options() const;
  std::string FirstExample() const;  // of the footer, without its explanation; empty if none
};

CommandNode TreeOf(const CLI::App& app);

// Returns the kind of a value by its placeholder in the help: FILE, DIR, PROFILE, PID, a list of
// metrics ("A+B", "A,B", "A,B,C"), or choices "a|b|c". (COMMAND is one of jprof's commands.)
Argument::Kind KindOf(std::string_view value);

}  // namespace jprof::cli
