#include "record/java_command.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ranges>
#include <span>

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

enum class Kind { kJava, kJdkTool, kOther };

bool IsProgram(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// Every launcher in a JDK's bin/ is the same program and accepts -J; lib/jvm.cfg identifies a JDK.
Kind KindOf(const fs::path& program) {
  std::error_code ignored;
  const fs::path real = fs::canonical(program, ignored);
  if (program.filename() == "java" || real.filename() == "java") return Kind::kJava;
  return fs::exists(real.parent_path().parent_path() / "lib" / "jvm.cfg", ignored) ? Kind::kJdkTool
                                                                                   : Kind::kOther;
}

// Quotes text for JAVA_TOOL_OPTIONS, which the JVM splits at blanks outside of quotes.
std::string Quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"') {
      quoted += "'\"'";
    } else if (c == '\'' || c == ' ' || c == '\t' || c == '\n') {
      quoted += fmt::format("\"{}\"", c);
    } else {
      quoted += c;
    }
  }
  return quoted;
}

// The options of java that take the next argument as their value.
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

// The last part of a class, a module/class, a path of a jar or of a source file.
std::string ShortName(std::string_view name) {
  for (const std::string_view ending : {".jar", ".java"}) {
    if (!name.ends_with(ending)) continue;
    return fs::path(name.substr(0, name.size() - ending.size())).filename();
  }
  return std::string(name.substr(name.find_last_of("./") + 1));
}

constexpr std::string_view kModule = "--module=";

// Which word of a java command is its main class, module or jar; the number of words: none.
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

// Empty: it has none.
std::string JavaMain(const std::vector<std::string>& command) {
  const size_t at = MainAt(command);
  if (at >= command.size()) return "";
  const std::string_view main = command[at];
  return ShortName(main.starts_with(kModule) ? main.substr(kModule.size()) : main);
}

}  // namespace

Result<fs::path> FindProgram(const std::string& name) {
  if (name.contains('/')) {
    if (IsProgram(name)) return name;
    return WrongUse("cannot run {}: {}; nothing was started", name,
                    fs::exists(name) ? "it is not an executable file" : "there is no such file");
  }
  const char* path = std::getenv("PATH");
  for (const auto part : std::views::split(std::string_view(path ? path : "/bin:/usr/bin"), ':')) {
    const fs::path candidate =
        fs::path(std::string_view(part).empty() ? "." : std::string_view(part)) / name;
    if (IsProgram(candidate)) return candidate;
  }
  return WrongUse("there is no '{}' in PATH; install it or give its full path; nothing was started",
                  name);
}

Result<Launch> WithAgent(const std::vector<std::string>& command, const fs::path& agent,
                         std::string_view options, bool children, std::string_view tool_options) {
  const auto program = FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  if (agent.string().contains('=')) {
    return WrongUse("the JVM cannot load an agent from a path with '=' in it: {}; move it",
                    agent.string());
  }
  Launch launch{*program, command, std::nullopt};
  const std::string loads = fmt::format("-agentpath:{}={}", agent.string(), options);
  const Kind kind = KindOf(*program);
  if (children) {
    launch.java_tool_options =
        fmt::format("{}{}{}", tool_options, tool_options.empty() ? "" : " ", Quoted(loads));
  } else if (kind == Kind::kOther) {
    return WrongUse(
        "{} is not java: add --children to follow the JVMs it starts, or profile the java command "
        "itself",
        command.front());
  } else {
    launch.arguments.insert(launch.arguments.begin() + 1,
                            (kind == Kind::kJdkTool ? "-J" : "") + loads);
  }
  return launch;
}

std::string ProfileName(const std::vector<std::string>& command) {
  const std::string program = fs::path(command.front()).filename();
  const std::string main = program == "java" ? JavaMain(command) : "";
  return main.empty() ? program : main;
}

std::string CommandText(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  const bool java = fs::path(command.front()).filename() == "java";
  const size_t at = java ? MainAt(command) : 0;
  const auto words = std::span(command).subspan(at < command.size() ? at : 0);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace jprof::record
