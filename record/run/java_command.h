// Adds the agent to a command. Reads the file system to find the program; starts nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::record {

struct Launch {
  std::filesystem::path program;                 // the file to execute
  std::vector<std::string> arguments;            // argv, [0] as typed
  std::optional<std::string> java_tool_options;  // the new value of JAVA_TOOL_OPTIONS
  // Holds the names and values of other variables of the environment.
  std::vector<std::pair<std::string, std::string>> environment;
  // Called by Run (record/run/launcher.h) with the pid of the new process before it executes the
  // program. May be empty.
  std::function<void(uint32_t pid)> before_exec;
};

// The way in which a command gets the agent, besides its library and options.
struct AgentPlace {
  bool environment = false;  // all JVMs that the command starts get it, by JAVA_TOOL_OPTIONS
  std::string tool_options;  // the current value of that variable; empty if unset
  bool hooks = false;        // preloads the library to record functions of C and C++
  bool locks = false;        // with `hooks`: and the one that replaces functions of pthread_*
  std::string preload;       // the current value of LD_PRELOAD; empty if unset
  std::string asan_options;  // the current value of ASAN_OPTIONS; empty if unset
};

// Returns the executable that `name` refers to: itself if it has a '/', else the first one in PATH.
Result<std::filesystem::path> FindProgram(const std::string& name);

// Returns whether `name` refers to a launcher of a JDK: java or a tool such as javac.
bool StartsJvm(const std::string& name);

// Returns which JVMs of this command are recorded if the user chose `chosen`; never returns kAuto.
// The first JVM of a java launcher is the launcher itself, so this is kNo.
options::Children ChildrenOf(const std::vector<std::string>& command, options::Children chosen);

// Returns how to run `command` with the agent.
// - A java launcher gets "-agentpath:<agent>=<options>" as its first argument, another tool of the
//   JDK gets "-J-agentpath:...".
// - With `environment` the command is unchanged and JAVA_TOOL_OPTIONS has the agent after its
//   current value. If the agent's path and options need no quotes, the library that keeps JVMs from
//   printing that variable (java_launch.cc) is preloaded.
// - With `hooks` the environment contains the library's options and preloads the library after
//   those that it already preloads; it also makes AddressSanitizer accept the library.
// - Fails with kWrongUse for any other program without `environment` and `hooks`.
// Requires `options` without blanks and quotes.
Result<Launch> WithAgent(const std::vector<std::string>& command,
                         const std::filesystem::path& agent, std::string_view options,
                         const AgentPlace& place);

}  // namespace jprof::record
