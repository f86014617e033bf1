// Declares the arguments of a command. It hides CLI11, whose headers take seconds to compile: only
// the files that parse the command line or walk its declarations include them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace jprof::cli {

struct CommandNode;

// Refers to an option or a positional argument that was declared. Functions that return a Declared
// add a rule, which is checked when the command line is parsed, or a detail of the help.
class Declared {
 public:
  explicit Declared(CLI::Option* option) : option_(option) {}

  Declared Required() const;
  Declared Positive() const;
  Declared NotNegative() const;
  Declared Between(int64_t least, int64_t most) const;
  Declared Between(uint64_t least, uint64_t most) const;
  Declared Between(double least, double most) const;
  Declared OneOf(const std::vector<std::string>& values) const;
  // Accepts the suffixes K, M and G, which are powers of 1024.
  Declared Size() const;
  // Excludes or requires another option, given by its name.
  Declared Excludes(const char* other) const;
  Declared Needs(const char* other) const;

  // Permits to leave out the value.
  Declared OptionalValue() const;
  // Permits several values in one occurrence, at least one.
  Declared SeveralValues() const;
  // Permits several occurrences, each with one value, which becomes another item of the list.
  Declared OneValueEach() const;
  // Does the same, and the help shows one value.
  Declared Repeatable() const;
  // Permits several occurrences, whose values become one with the separator between them.
  Declared JoinedBy(char separator) const;
  // Prints the value that the variable has now as the default in the help.
  Declared ShowDefault() const;

  // Returns whether it is on the command line. Requires that the command line was parsed.
  bool IsGiven() const;

 private:
  CLI::Option* option_;
};

class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {}

  // These declare an argument: its names ("-o,--out", or "PID" of a positional one), the variable
  // that gets the value, what the help calls the value, and the help. If `value` is empty, the help
  // names the type. The variable must outlive the parsing.
  template <typename T>
  Declared Option(const std::string& names, T& variable, const std::string& value,
                  const std::string& help);
  Declared Flag(const std::string& names, bool& variable, const std::string& help);
  // The variable becomes "true", or the value of --NAME=VALUE.
  Declared Flag(const std::string& names, std::string& variable, const std::string& help);
  // These call `set` instead, with the text of the value.
  Declared Option(const std::string& names, std::function<void(const std::string&)> set,
                  const std::string& value, const std::string& help);
  Declared Flag(const std::string& names, std::function<void()> set, const std::string& help);

  // Lists the options that are declared from here on under this heading of the help; the first
  // heading is kOptions.
  void Group(const std::string& heading);
  static constexpr char kOptions[] = "Options";

  // Sets the end of the help: explanations, then examples.
  void Footer(const std::string& text);
  // Leaves arguments that are not declared to CheckCommand.
  void AllowOthers();

  std::string Name() const;                 // "scs"
  std::vector<std::string> Others() const;  // the arguments that are not declared
  // Returns the message about an argument that is not declared.
  std::string UnknownText(const std::string& argument) const;

  // Return the options, such as "--top", and whether one is on the command line. Require that the
  // command line was parsed.
  std::vector<std::string> GivenOptions() const;
  bool IsGiven(const std::string& option) const;

  // Returns the declarations of all commands.
  CommandNode Tree() const;

 private:
  CLI::App& app_;
};

}  // namespace jprof::cli
