// Adds the agent to a command. Reads the file system to find the program; starts nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::record {

struct Launch {
  std::filesystem::path program;                 // the file to execute
  std::vector<std::string> arguments;            // argv, [0] as typed
  std::optional<std::string> java_tool_options;  // the new value of JAVA_TOOL_OPTIONS
};

// The executable that `name` refers to: itself if it has a '/', else the first one in PATH.
Result<std::filesystem::path> FindProgram(const std::string& name);

// Returns how to run `command` with the agent.
// - A java launcher gets "-agentpath:<agent>=<options>" as its first argument, another tool of the
//   JDK gets "-J-agentpath:...".
// - With `children` the command is unchanged and JAVA_TOOL_OPTIONS has the agent after
//   `tool_options`, the current value of the variable ("": unset).
// - Any other program without `children` is wrong use.
// `options` has no blanks and no quotes.
Result<Launch> WithAgent(const std::vector<std::string>& command,
                         const std::filesystem::path& agent, std::string_view options,
                         bool children, std::string_view tool_options);

// The default name of a profile of this command, without ".jprof": the main class without its
// package, or the jar without its folder, else the program.
std::string ProfileName(const std::vector<std::string>& command);

// The command of a process, for the user: without java and its options if it has a main class, a
// module or a jar.
std::string CommandText(const std::vector<std::string>& command);

}  // namespace jprof::record
