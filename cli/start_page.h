// Prints the page of `jprof` without arguments: where to start.
#pragma once

#include <string>
#include <vector>

#include "cli/shared/command_tree.h"

namespace jprof::cli {

// Returns the groups with their commands, in the order of the help:
// "Read results   report, combine, info".
std::vector<std::string> GroupLines(const CommandNode& root);

// Returns the whole text: which command is for which question, and all commands. `newest_profile`
// is that of the working directory, "" if there is none. Pure.
std::string StartPage(const CommandNode& root, const std::string& newest_profile);

// Prints the page for this user and the working directory.
void PrintStartPage(const CommandNode& root);

}  // namespace jprof::cli
