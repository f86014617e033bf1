// `jprof man`: prints the manual page of a command, or writes all of them.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shell/man_page.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kManFooter[] =
    R"(The pages are generated from the same table as --help. An installed jprof has them where man looks:
man jprof, man jprof-profile.

Examples:
  jprof man profile | man -l -           read a page
  jprof man --write DIR                  write the pages of all commands)";

struct ManArguments {
  std::string command, directory;
};

Result<void> WritePage(const fs::path& path, const std::string& page) {
  std::ofstream file(path, std::ios::binary);
  file << page;
  file.close();
  if (!file)
    return Fail("cannot write {}: is the disk full, or the directory read-only?", path.string());
  return {};
}

Result<void> WriteAll(const CommandNode& root, const fs::path& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) return WrongUse("--write {}: {}", directory.string(), failed.message());
  auto written = WritePage(directory / ManName(nullptr), ManPage(root, nullptr));
  for (const CommandNode& command : root.commands) {
    if (written) written = WritePage(directory / ManName(&command), ManPage(root, &command));
  }
  return written;
}

Result<int> Man(const CommandNode& root, const ManArguments& arguments) {
  if (!arguments.directory.empty()) {
    const auto written = WriteAll(root, arguments.directory);
    if (!written) return std::unexpected(written.error());
    return 0;
  }
  const CommandNode* command = nullptr;
  if (!arguments.command.empty()) {
    std::vector<std::string_view> names;
    for (const CommandNode& one : root.commands) names.push_back(one.name);
    const auto chosen = Choose("command", arguments.command, names);
    if (!chosen) return std::unexpected(chosen.error());
    command = &root.commands[*chosen];
  }
  fmt::print("{}", ManPage(root, command));
  return 0;
}

}  // namespace

Action ManCommand(CommandLine line, const Command&) {
  const auto arguments = std::make_shared<ManArguments>();
  line.Footer(kManFooter);
  line.Option("COMMAND", arguments->command, "", "The command; jprof itself if left out");
  line.Option("--write", arguments->directory, "DIR",
              "Write the pages of all commands to this folder");
  return [line, arguments] { return Man(line.Tree(), *arguments); };
}

}  // namespace jprof::cli
