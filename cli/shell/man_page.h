// Generates manual pages in the man macros of roff from the commands. All functions are pure.
#pragma once

#include <string>
#include <string_view>

#include "cli/shared/command_tree.h"

namespace jprof::cli {

// Returns a file name like "jprof-profile.1", or "jprof.1" if `command` is null.
std::string ManName(const CommandNode* command);

// Returns the page of one of root.commands, or of jprof itself if `command` is null.
std::string ManPage(const CommandNode& root, const CommandNode* command);

// Returns the text for roff: special characters are escaped, and no line begins with a
// control character.
std::string RoffText(std::string_view text);

}  // namespace jprof::cli
