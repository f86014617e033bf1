// Makes the text of --help from the declarations of a command, as manual pages and completion are
// made. Pure.
#pragma once

#include <string>

#include "cli/shared/command_tree.h"

namespace jprof::cli {

// Returns what the command does, how it is called, its arguments, its options under the headings of
// their groups, explanations and examples. For the root, it lists the commands by group.
std::string HelpText(const CommandNode& command);

}  // namespace jprof::cli
