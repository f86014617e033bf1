#include "options/java_program.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace jprof::options {
namespace {

namespace fs = std::filesystem;

bool IsJava(const std::vector<std::string>& command) {
  return !command.empty() && fs::path(command.front()).filename() == "java";
}

// Returns whether the option of java takes the next argument as its value.
bool TakesNextArgument(std::string_view option) {
  constexpr std::string_view kOptions[] = {"-cp",
                                           "-classpath",
                                           "--class-path",
                                           "-p",
                                           "--module-path",
                                           "--upgrade-module-path",
                                           "--add-modules",
                                           "--limit-modules",
                                           "--add-exports",
                                           "--add-opens",
                                           "--add-reads",
                                           "--patch-module",
                                           "--enable-native-access",
                                           "--source"};
  return std::ranges::find(kOptions, option) != std::end(kOptions);
}

bool AsksTheVm(std::string_view option) {
  constexpr std::string_view kOptions[] = {"-version",
                                           "--version",
                                           "-fullversion",
                                           "--full-version",
                                           "-h",
                                           "-help",
                                           "--help",
                                           "-?",
                                           "-X",
                                           "--help-extra",
                                           "--list-modules",
                                           "-d",
                                           "--describe-module",
                                           "--validate-modules"};
  return std::ranges::find(kOptions, option) != std::end(kOptions) ||
         option.starts_with("-XshowSettings");
}

// Returns the last part of the name of a class, a module/class, or a path of a jar or a source
// file.
std::string ShortName(std::string_view name) {
  for (const std::string_view ending : {".jar", ".java"}) {
    if (!name.ends_with(ending)) continue;
    return fs::path(name.substr(0, name.size() - ending.size())).filename();
  }
  return std::string(name.substr(name.find_last_of("./") + 1));
}

constexpr std::string_view kModule = "--module=";

// Returns an empty text if there is none.
std::string JavaMain(const std::vector<std::string>& command) {
  const size_t at = MainAt(command);
  if (at >= command.size()) return "";
  const std::string_view main = command[at];
  return ShortName(main.starts_with(kModule) ? main.substr(kModule.size()) : main);
}

}  // namespace

size_t MainAt(const std::vector<std::string>& command) {
  for (size_t i = 1; i < command.size(); ++i) {
    const std::string_view argument = command[i];
    if (argument.starts_with(kModule)) return i;
    if (argument == "-jar" || argument == "-m" || argument == "--module") return i + 1;
    if (TakesNextArgument(argument)) {
      ++i;
    } else if (!argument.starts_with('-') && !argument.starts_with('@')) {
      return i;
    }
  }
  return command.size();
}

std::string ProfileName(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  const std::string main = IsJava(command) ? JavaMain(command) : "";
  return main.empty() ? fs::path(command.front()).filename().string() : main;
}

std::string CommandText(const std::vector<std::string>& command) {
  const size_t at = IsJava(command) ? MainAt(command) : 0;
  std::string text;
  for (size_t i = at < command.size() ? at : 0; i < command.size(); ++i) {
    text += (text.empty() ? "" : " ") + command[i];
  }
  return text;
}

bool OnlyAsksTheVm(const std::vector<std::string>& command) {
  if (!IsJava(command) || !JavaMain(command).empty()) return false;
  return std::ranges::any_of(command, AsksTheVm) &&
         std::ranges::none_of(command,
                              [](const std::string& word) { return word.starts_with('@'); });
}

}  // namespace jprof::options
