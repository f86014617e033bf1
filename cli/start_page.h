// Prints the page of `jprof` without arguments: where to start.
#pragma once

#include <string>
#include <vector>

#include "cli/shared/command_tree.h"

namespace jprof::cli {

struct StartValues {
  size_t tables = 0;    // calibration tables of this user
  std::string profile;  // the newest profile in the working directory; "" if there is none
};

// Returns the groups with their commands, in the order of the help:
// "Read results   report, combine, info".
std::vector<std::string> GroupLines(const CommandNode& root);

// Returns the whole text. Pure.
std::string StartPage(const CommandNode& root, const StartValues& values);

// Prints the page for this user and the working directory.
void PrintStartPage(const CommandNode& root);

}  // namespace jprof::cli
