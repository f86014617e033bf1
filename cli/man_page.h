// Manual pages in the man macros of roff, generated from the commands. All functions are pure.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_tree.h"

namespace jprof::cli {

// "jprof.1", "jprof-profile.1". `command` null: jprof itself.
std::string ManName(const CommandNode* command);

// The page of jprof itself (`command` null) or of one of root.commands.
std::string ManPage(const CommandNode& root, const CommandNode* command);

// Text for roff: special characters escaped, no control line at the beginning of a line.
std::string RoffText(std::string_view text);

}  // namespace jprof::cli
