// Prints all messages of the command except for its results.
#pragma once

#include <string_view>

namespace jprof::record {

// Prints "jprof: MESSAGE" as one line on stderr, without control characters.
void PrintError(std::string_view message);

// Prints the command that helps most now, as the last line of a command that has succeeded.
void PrintNext(std::string_view command);

}  // namespace jprof::record
