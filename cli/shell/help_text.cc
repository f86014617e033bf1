#include "cli/shell/help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "common/wrapped_text.h"
#include "options/option_table.h"

namespace jprof::cli {
namespace {

// Holds the name and the help of an argument or a command.
using HelpEntry = std::pair<std::string, std::string>;
struct HelpSection {
  std::string heading;
  std::vector<HelpEntry> entries;
};

// Adds an entry to the section with the heading, in the order of their first entries.
void AddEntry(std::vector<HelpSection>& sections, const std::string& heading, HelpEntry entry) {
  auto section = std::ranges::find(sections, heading, &HelpSection::heading);
  if (section == sections.end()) section = sections.insert(section, {heading, {}});
  section->entries.push_back(std::move(entry));
}

// Returns "-o, --out DIR", "--sample [N]" or "PROFILE...".
std::string HelpTag(const Argument& argument) {
  if (argument.IsPositional()) return argument.title + (argument.repeated ? "..." : "");
  const std::string names = fmt::format("{}", fmt::join(argument.names, ", "));
  if (argument.IsFlag()) return names;
  const bool bracketed = argument.optional_value && !argument.value.starts_with('[');
  return fmt::format(fmt::runtime(bracketed ? "{} [{}]" : "{} {}"), names, argument.value);
}

std::string HelpOf(const Argument& argument) {
  std::string help = argument.help;
  if (argument.IsPositional() && !argument.choices.empty())
    help += fmt::format(": {}", fmt::join(argument.choices, ", "));
  if (!argument.default_value.empty()) help += fmt::format(" (default {})", argument.default_value);
  return help;
}

std::vector<HelpSection> SectionsOf(const CommandNode& command) {
  std::vector<HelpSection> sections;
  for (const Argument& argument : command.Positionals())
    AddEntry(sections, "Arguments", {HelpTag(argument), HelpOf(argument)});
  for (const Argument& argument : command.Options())
    AddEntry(sections, argument.group, {HelpTag(argument), HelpOf(argument)});
  for (const CommandNode& sub : command.commands)
    AddEntry(sections, sub.group, {sub.name, sub.description});
  std::ranges::stable_partition(sections, [](const HelpSection& section) {
    return section.heading != options::kRarelyNeeded;
  });
  return sections;
}

// Returns the section, with the help in one column. The help of a name that is too long for the
// first column begins on the next line.
std::string SectionText(const HelpSection& section) {
  constexpr size_t kWidest = 24, kIndent = 2, kGap = 2;
  size_t width = 0;
  for (const HelpEntry& entry : section.entries)
    if (entry.first.size() <= kWidest) width = std::max(width, entry.first.size());
  const size_t column = kIndent + width + kGap;
  std::string text = section.heading + ":\n";
  for (const auto& [name, help] : section.entries) {
    const std::string gap = name.size() > width ? "\n" + std::string(column, ' ')
                                                : std::string(width - name.size() + kGap, ' ');
    text += fmt::format("  {}{}{}\n", name, gap, WrappedText(help, column));
  }
  return text;
}

// Breaks long lines of explanations. Lines that begin with a blank keep their layout.
std::string FooterText(const std::string& footer) {
  std::string text;
  for (const auto part : std::views::split(footer, '\n')) {
    const std::string_view line(part);
    text += (line.starts_with(' ') ? std::string(line) : WrappedText(line, 0)) + "\n";
  }
  return text;
}

// Returns "jprof ctl [OPTION]... [PID] [COMMAND]".
std::string UsageOf(const CommandNode& command) {
  if (!command.commands.empty()) return "jprof COMMAND [OPTION]... [-- PROGRAM [ARGUMENT]...]";
  std::string usage = fmt::format("jprof {} [OPTION]...", command.name);
  for (const Argument& argument : command.Positionals())
    usage += fmt::format(fmt::runtime(argument.required ? " {}" : " [{}]"), HelpTag(argument));
  if (!command.runs_command) return usage;
  const bool has_other_target =
      std::ranges::count(command.arguments, Argument::Kind::kProcess, &Argument::kind) != 0;
  return usage + (has_other_target ? " [-- PROGRAM [ARGUMENT]...]" : " -- PROGRAM [ARGUMENT]...");
}

}  // namespace

std::string HelpText(const CommandNode& command) {
  std::string text =
      WrappedText(command.description + ".", 0) + "\n\nUsage: " + UsageOf(command) + "\n";
  for (const HelpSection& section : SectionsOf(command)) text += "\n" + SectionText(section);
  if (!command.footer.empty()) text += "\n" + FooterText(command.footer);
  return text;
}

}  // namespace jprof::cli
