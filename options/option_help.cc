// What HELP prints, and the table in docs/AGENT_OPTIONS.md.
#include <fmt/format.h>

#include <ranges>

#include "options/option_table.h"

namespace jprof::agent {
namespace {

// "OUT=DIR", "SAMPLE[=N]"
std::string WithArgument(std::string_view word, const Option& option) {
  return fmt::format("{}{}{}", word, option.NeedsValue() ? "=" : "", option.argument);
}

}  // namespace

std::string AgentHelp() {
  std::string text =
      "-agentpath:libjprof.so=WORD,WORD=VALUE,...     (words in any case; JPROFOPTS is appended)\n";
  for (const Option& option : OptionTable()) {
    text += fmt::format("  {:<19} {}", WithArgument(option.word, option), HelpOf(option));
    for (const auto alias : std::views::split(option.aliases, ' '))
      if (!alias.empty()) text += "; also " + WithArgument(std::string_view(alias), option);
    text += '\n';
  }
  return text +
         "  In values %XX is the byte of that number: %2C a comma, %2B a plus, %25 a percent "
         "sign.\n";
}

std::string OptionsMarkdown() {
  std::string text = "| word | flag of a command | meaning |\n|---|---|---|\n";
  for (const Option& option : OptionTable()) {
    std::string words = fmt::format("`{}`", WithArgument(option.word, option));
    for (const auto alias : std::views::split(option.aliases, ' ')) {
      if (!alias.empty())
        words += fmt::format(", `{}`", WithArgument(std::string_view(alias), option));
    }
    const std::string flag =
        option.flag.empty() ? "" : fmt::format("`{}`", NameOf(option, Interface::kCommandLine));
    text += fmt::format("| {} | {} | {} |\n", words, flag, HelpOf(option));
  }
  return text;
}

}  // namespace jprof::agent
