#include "record/run/java_command.h"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ranges>

#include "common/errno_text.h"
#include "options/agent_argument.h"
#include "options/hook_variable.h"
#include "options/tool_options.h"
#include "record/run/musl.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr char kPreloadVariable[] = "LD_PRELOAD";
// AddressSanitizer refuses to run a program whose first library is not its own.
constexpr char kSanitizerVariable[] = "ASAN_OPTIONS";

enum class Kind { kJava, kJdkTool, kOther };

// Returns why the path is not a program, or an empty text if it is one.
std::string WhyNoProgram(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0)
    return errno == ENOENT || errno == ENOTDIR ? "there is no such file" : ErrnoText();
  const bool regular = S_ISREG(status.st_mode);
  if (regular && access(path.c_str(), X_OK) == 0) return "";
  return regular && errno != EACCES ? ErrnoText() : "it is not an executable file";
}

// Identifies a JDK by lib/jvm.cfg: every launcher in its bin/ is the same program and accepts -J.
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

// Returns whether the launch library exists beside the agent and can move the agent from
// JAVA_TOOL_OPTIONS to the arguments of java.
bool MovesFromVariable(const fs::path& agent, const std::string& loads) {
  const fs::path library = agent.parent_path() / options::kLaunchLibrary;
  std::error_code ignored;
  return agent.filename() == options::kAgentLibrary && fs::exists(library, ignored) &&
         Quoted(loads) == loads && !agent.string().contains(':');
}

// Adds the libraries after those that the user preloads.
void Preload(const std::vector<std::string>& libraries, const AgentPlace& place, Launch& launch) {
  if (libraries.empty()) return;
  launch.environment.emplace_back(kSanitizerVariable,
                                  fmt::format("{}{}verify_asan_link_order=0", place.asan_options,
                                              place.asan_options.empty() ? "" : ":"));
  launch.environment.emplace_back(
      kPreloadVariable, fmt::format("{}{}{}", place.preload, place.preload.empty() ? "" : ":",
                                    fmt::join(libraries, ":")));
}

}  // namespace

Result<fs::path> FindProgram(const std::string& name) {
  if (name.contains('/')) {
    const std::string why = WhyNoProgram(name);
    if (why.empty()) return name;
    return WrongUse("cannot run {}: {}; nothing was started", name, why);
  }
  const char* path = std::getenv("PATH");
  for (const auto part : std::views::split(std::string_view(path ? path : "/bin:/usr/bin"), ':')) {
    const fs::path candidate =
        fs::path(std::string_view(part).empty() ? "." : std::string_view(part)) / name;
    if (WhyNoProgram(candidate).empty()) return candidate;
  }
  return WrongUse("there is no '{}' in PATH; install it or give its full path; nothing was started",
                  name);
}

bool StartsJvm(const std::string& name) {
  const auto program = FindProgram(name);
  return program && KindOf(*program) != Kind::kOther;
}

options::Children ChildrenOf(const std::vector<std::string>& command, options::Children chosen) {
  using enum options::Children;
  const bool java = StartsJvm(command.front());
  if (chosen == kAuto) return java ? kNo : kAll;
  return chosen == kFirst && java ? kNo : chosen;
}

Result<Launch> WithAgent(const std::vector<std::string>& command, const fs::path& agent,
                         std::string_view options, const AgentPlace& place) {
  const auto program = FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  if (agent.string().contains('=')) {
    return WrongUse("the JVM cannot load an agent from a path with '=' in it: {}; move it",
                    agent.string());
  }
  if (place.hooks && agent.string().find_first_of(" :") != std::string::npos) {
    return WrongUse("a library cannot be preloaded from a path with blanks or colons: {}; move it",
                    agent.string());
  }
  Launch launch{*program, command, std::nullopt, {}};
  const std::string loads = options::AgentArgument(agent.string(), options);
  std::vector<std::string> preloaded;
  if (place.hooks) {
    launch.environment.emplace_back(options::kHookOptionsVariable, options);
    preloaded.push_back(agent.string());
    if (place.locks) preloaded.push_back(agent.parent_path() / options::kLocksLibrary);
  }
  if (place.environment && MovesFromVariable(agent, loads))
    preloaded.push_back(agent.parent_path() / options::kLaunchLibrary);
  Preload(preloaded, place, launch);
  const Kind kind = KindOf(*program);
  if (kind != Kind::kOther && NeedsMusl(*program)) {
    return WrongUse("{} runs on musl: {}; nothing was started", program->string(), kNeedsGlibc);
  }
  if (place.environment) {
    launch.java_tool_options = fmt::format("{}{}{}", place.tool_options,
                                           place.tool_options.empty() ? "" : " ", Quoted(loads));
  } else if (kind != Kind::kOther) {
    launch.arguments.insert(launch.arguments.begin() + 1,
                            (kind == Kind::kJdkTool ? "-J" : "") + loads);
  } else if (!place.hooks) {
    return WrongUse(
        "{} is not java and has no hooks: --children=no would record nothing; use --children=all "
        "or --children=first, or profile the java command itself",
        command.front());
  }
  return launch;
}

}  // namespace jprof::record
