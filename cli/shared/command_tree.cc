#include "cli/shared/command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
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

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Returns a help text that begins with a capital letter, unless it begins with one of the values.
std::string Sentence(std::string text, std::string_view value) {
  const std::string word = text.substr(0, text.find_first_of(" ,:;"));
  const auto is_lower = [](unsigned char c) { return std::islower(c) != 0; };
  if (std::ranges::all_of(word, is_lower) && value.find(word) == value.npos)
    text.replace(0, 1, Upper(text.substr(0, 1)));
  return text;
}

// Returns the name of an option's value.
std::string ValueName(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == "FLOAT" || type == "INT" || type == "UINT") return "N";
  return type == "TEXT" && option.get_positional() ? option.get_name(true) : type;
}

Argument ArgumentOf(const CLI::Option& option) {
  Argument argument = {.group = option.get_group(),
                       .required = option.get_required(),
                       .default_value = option.get_default_str(),
                       .help = Sentence(option.get_description(), option.get_type_name())};
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  if (argument.IsPositional()) argument.title = Upper(option.get_name(true));
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

std::string CommandNode::FirstExample() const {
  constexpr std::string_view kHeading = "Examples:\n  ";
  const size_t heading = footer.find(kHeading);
  if (heading == std::string::npos) return "";
  const std::string_view examples = std::string_view(footer).substr(heading + kHeading.size());
  const std::string_view line = examples.substr(0, examples.find('\n'));
  return std::string(line.substr(0, line.find("   ")));
}

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
