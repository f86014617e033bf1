// Writes the text of HELP and the table in docs/AGENT_OPTIONS.md.
#include <fmt/format.h>

#include <ranges>

#include "options/option_table.h"

namespace jprof::options {
namespace {

// Returns a text such as "OUT=DIR" or "SAMPLE[=N]".
std::string WithArgument(std::string_view name, const Option& option) {
  return fmt::format("{}{}{}", name, option.NeedsValue() ? "=" : "", option.argument);
}

}  // namespace

std::string AgentHelp() {
  std::string text =
      "-agentpath:libjprof.so=OPTION,OPTION=VALUE,...     (in any case; JPROFOPTS is appended)\n";
  for (const Option& option : OptionTable()) {
    text += fmt::format("  {:<19} {}", WithArgument(option.name, option), HelpOf(option));
    for (const auto alias : std::views::split(option.aliases, ' '))
      if (!alias.empty()) text += "; also " + WithArgument(std::string_view(alias), option);
    text += '\n';
  }
  return text +
         "  In a value, %XX is a byte in hexadecimal: %2C "
         "is a comma, %2B a plus, %25 a percent sign.\n";
}

std::string OptionsMarkdown() {
  std::string text = "| option | command flag | meaning |\n|---|---|---|\n";
  for (const Option& option : OptionTable()) {
    std::string names = fmt::format("`{}`", WithArgument(option.name, option));
    for (const auto alias : std::views::split(option.aliases, ' ')) {
      if (!alias.empty())
        names += fmt::format(", `{}`", WithArgument(std::string_view(alias), option));
    }
    const std::string flag =
        option.flag.empty() ? "" : fmt::format("`{}`", NameOf(option, Interface::kCommandLine));
    text += fmt::format("| {} | {} | {} |\n", names, flag, HelpOf(option));
  }
  return text;
}

}  // namespace jprof::options
