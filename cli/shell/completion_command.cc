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

Result<int> PrintCompletion(const CommandNode& root, const std::string& shell) {
  constexpr std::string (*kWriters[])(const CommandNode&) = {BashCompletion, ZshCompletion,
                                                             FishCompletion};
  const auto chosen = Choose("shell", shell, {"bash", "zsh", "fish"});
  if (!chosen) return std::unexpected(chosen.error());
  fmt::print("{}", kWriters[*chosen](root));
  return 0;
}

}  // namespace

Action CompletionCommand(CommandLine line, const Command&) {
  const auto shell = std::make_shared<std::string>();
  line.Footer(kCompletionFooter);
  line.Option("SHELL", *shell, "bash|zsh|fish", "The shell").Required();
  return [line, shell] { return PrintCompletion(line.Tree(), *shell); };
}

}  // namespace jprof::cli
