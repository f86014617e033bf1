#include "cli/shared/unknown_argument.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "cli/shared/command_tree.h"
#include "cli/shared/usage_error.h"
#include "common/nearest.h"

namespace jprof::cli {
namespace {

// Returns the innermost subcommand on the command line, or the app itself.
const CLI::App& Innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : Innermost(*parsed.back());
}

// Returns a name such as "jprof report log-rt".
std::string FullName(const CLI::App& app) {
  return app.get_parent() ? FullName(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

}  // namespace

std::string UnknownArgument(const CLI::App& app, std::string_view argument) {
  const bool is_option = argument.starts_with("-");
  argument = argument.substr(0, argument.find('='));
  const auto names = is_option ? OptionNames(app) : SubcommandNames(app);
  const std::string path = FullName(app);
  const std::string what = is_option ? "option" : names.empty() ? "argument" : "command";
  if (!is_option && TreeOf(app).runs_command)
    return fmt::format("put -- before the program: {} -- {} ...", path, argument);
  const std::vector<std::string_view> choices(names.begin(), names.end());
  const auto nearest = Nearest(argument, choices);
  if (!nearest && what == "command") {
    return fmt::format(
        "jprof has no command '{}'; to profile a program: jprof profile -- java -jar "
        "app.jar; `jprof` alone shows which command is for what",
        argument);
  }
  return fmt::format("{} has no {} '{}'; {}", path, what, argument,
                     nearest ? fmt::format("did you mean {}?", *nearest)
                             : fmt::format("`{} --help` lists them", path));
}

namespace {

// Returns the message about a positional argument that is missing.
std::string MissingText(const CLI::App& app, const CLI::ParseError& error) {
  std::string name = error.what();  // "NAME is required"
  name.resize(name.find(' '));
  for (const Argument& argument : TreeOf(app).Positionals())
    if (EditDistance(argument.title, name) == 0) name = argument.title;
  return fmt::format("{} needs {}, for example: {}", FullName(app), name,
                     TreeOf(app).FirstExample());
}

// Returns the message of CLI11, in plain words if an option is given more than once.
std::string OtherText(const CLI::ParseError& error) {
  std::string text = error.what();
  const size_t repeated = text.find(": At Most 1 required");
  if (repeated != std::string::npos) text = text.substr(0, repeated) + ": give it once";
  return text;
}

}  // namespace

int ReportParseError(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const CLI::App& inner = Innermost(app);
  const auto unknown = app.remaining(true);
  const bool incomplete = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const bool extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if ((incomplete || extra) && !unknown.empty()) {
    PrintError(UnknownArgument(inner, unknown.front()));
  } else if (incomplete) {
    PrintError(MissingText(inner, error));
  } else {
    PrintError(fmt::format("{}; see `{} --help`", OtherText(error), FullName(inner)));
  }
  return 2;
}

}  // namespace jprof::cli
