// Recognises the same program in a later run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cpo/agents/agent.h"
#include "cpo/database/records.h"

namespace jprof::cpo {

// Returns the key of a command:
// - Its identity is the build id of the executable, or a hash of the file if it has none. For a
//   java command the main class follows, and a hash of its jar, or of the names, sizes and times of
//   the files of its class path.
// - Its arguments are a hash of their class (ArgumentClass).
// - Its name is that of a profile of the command.
ProgramKey KeyOfProgram(const ProgramCommand& command);

// Returns the words after the program, such that runs that do comparable work have the same: the
// name of a file stands for its path, and a number for all with as many binary digits.
std::string ArgumentClass(const std::vector<std::string>& words);

}  // namespace jprof::cpo
