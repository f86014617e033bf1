#include "cli/shared/command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <string_view>

namespace jprof::cli {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(text, separator))
    parts.emplace_back(part.begin(), part.end());
  return parts;
}

// Returns the name of an option's value, without the descriptions of validators that CLI11 appends:
// "TEXT:{text,json}", "FLOAT:FLOAT in [0.01 - 1e6]".
std::string ValueName(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t brace = type.find(":{"), end = type.find('}');
  if (brace != type.npos && end != type.npos)
    return fmt::format("{}", fmt::join(Split(type.substr(brace + 2, end - brace - 2), ','), "|"));
  const std::string name = type.substr(0, type.find(':'));
  if (name == "FLOAT" || name == "INT" || name == "UINT") return "N";
  return name == "TEXT" && option.get_positional() ? option.get_name(true) : name;
}

Argument ArgumentOf(const CLI::Option& option) {
  Argument argument = {.default_value = option.get_default_str(), .help = option.get_description()};
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  if (option.get_items_expected_max() == 0) return argument;
  argument.value = ValueName(option);
  argument.optional_value = option.get_items_expected_min() == 0;
  argument.repeated = option.get_items_expected_max() > 1;
  argument.kind = KindOf(argument.value);
  if (argument.kind == Argument::Kind::kChoice) argument.choices = Split(argument.value, '|');
  return argument;
}

// Returns whether an example in the help shows a command after "--".
bool RunsCommand(const CLI::App& app) {
  const std::string start = "jprof " + app.get_name() + " ";
  return std::ranges::any_of(Split(app.get_footer(), '\n'), [&](const std::string& line) {
    const size_t at = line.find(start);
    return at != line.npos && line.find("-- ", at) != line.npos;
  });
}

// Offers the names of commands for a value named COMMAND.
void OfferCommands(CommandNode& root) {
  std::vector<std::string> names;
  for (const CommandNode& command : root.commands) names.push_back(command.name);
  for (CommandNode& command : root.commands) {
    for (Argument& argument : command.arguments) {
      if (argument.value != "COMMAND") continue;
      argument.kind = Argument::Kind::kChoice;
      argument.choices = names;
    }
  }
}

std::vector<Argument> Selected(const std::vector<Argument>& arguments, bool positional) {
  std::vector<Argument> selected;
  std::ranges::copy_if(arguments, std::back_inserter(selected), [&](const Argument& argument) {
    return argument.IsPositional() == positional;
  });
  return selected;
}

}  // namespace

Argument::Kind KindOf(std::string_view value) {
  using enum Argument::Kind;
  if (value.find('|') != value.npos) return kChoice;
  constexpr std::string_view kFiles[] = {"FILE", "LIB", "PATH"};
  if (std::ranges::count(kFiles, value) != 0) return kFile;
  if (value == "DIR") return kDirectory;
  constexpr std::string_view kLists[] = {"A+B", "A,B", "A,B,C"};
  if (std::ranges::count(kLists, value) != 0) return kMetrics;
  if (value.starts_with("PROFILE")) return kProfile;
  return value == "PID" ? kProcess : kText;
}

std::vector<Argument> CommandNode::Positionals() const { return Selected(arguments, true); }
std::vector<Argument> CommandNode::Options() const { return Selected(arguments, false); }

CommandNode TreeOf(const CLI::App& app) {
  CommandNode node = {.name = app.get_name(),
                      .group = app.get_group(),
                      .description = app.get_description(),
                      .footer = app.get_footer(),
                      .runs_command = RunsCommand(app)};
  for (const CLI::Option* option : app.get_options()) node.arguments.push_back(ArgumentOf(*option));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    node.commands.push_back(TreeOf(*sub));
  OfferCommands(node);
  return node;
}

}  // namespace jprof::cli
