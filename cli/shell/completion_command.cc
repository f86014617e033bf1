// `jprof completion`: prints a shell's completion script.
#include <fmt/format.h>

#include <memory>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shell/completion.h"

namespace jprof::cli {
namespace {

constexpr char kCompletionFooter[] =
    R"(An installed jprof has these scripts where the shells look for them.

Examples:
  source <(jprof completion bash)                                  in this shell
  jprof completion bash > ~/.local/share/bash-completion/completions/jprof
  jprof completion zsh > "${fpath[1]}/_jprof"
  jprof completion fish > ~/.config/fish/completions/jprof.fish)";

Result<int> PrintCompletion(const CLI::App& app, const std::string& shell) {
  constexpr std::string (*kWriters[])(const CommandNode&) = {BashCompletion, ZshCompletion,
                                                             FishCompletion};
  const auto chosen = Choose("shell", shell, {"bash", "zsh", "fish"});
  if (!chosen) return std::unexpected(chosen.error());
  fmt::print("{}", kWriters[*chosen](TreeOf(app)));
  return 0;
}

}  // namespace

Action CompletionCommand(CLI::App& sub, const Command&) {
  const auto shell = std::make_shared<std::string>();
  sub.footer(kCompletionFooter);
  sub.add_option("SHELL", *shell, "The shell")->required()->type_name("bash|zsh|fish");
  return [&sub, shell] { return PrintCompletion(*sub.get_parent(), *shell); };
}

}  // namespace jprof::cli
