// Generates completion scripts for shells from the commands. What can be counted depends on the
// machine, so for the names of metrics the scripts run `jprof metrics --events`.
#pragma once

#include <string>

#include "cli/shared/command_tree.h"

namespace jprof::cli {

std::string BashCompletion(const CommandNode& root);
std::string ZshCompletion(const CommandNode& root);
std::string FishCompletion(const CommandNode& root);

}  // namespace jprof::cli
