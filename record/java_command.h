// How the agent gets into a command. Reads the file system (what is this program?), starts nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::record {

struct Launch {
  std::filesystem::path program;                 // resolved: what to execute
  std::vector<std::string> arguments;            // argv, [0] as the user wrote it
  std::optional<std::string> java_tool_options;  // set: this environment variable is changed
};

// The executable that `name` means: itself if it holds a '/', else found in PATH.
Result<std::filesystem::path> FindProgram(const std::string& name);

// `command` with "-agentpath:<agent>=<options>" as the first argument of a java launcher (or -J...
// of another JDK tool). With `children`, the command stays as it is and JAVA_TOOL_OPTIONS carries
// the agent, behind what `tool_options` (the variable's value, "" = unset) had. Any other program
// without `children` is wrong use. `options` holds no blanks and no quotes.
Result<Launch> WithAgent(const std::vector<std::string>& command,
                         const std::filesystem::path& agent, std::string_view options,
                         bool children, std::string_view tool_options);

// What a profile of this command is called by default, without ".jprof": the main class or the
// jar's name without its package or folder, else the program's name.
std::string ProfileName(const std::vector<std::string>& command);

}  // namespace jprof::record
