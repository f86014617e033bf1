// Prints all messages of the command except for its results.
#pragma once

#include <string_view>

namespace jprof::record {

// Prints "jprof: MESSAGE" as one line on stderr, without control characters.
void PrintError(std::string_view message);

}  // namespace jprof::record
