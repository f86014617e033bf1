// Breaks text into lines for the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::cli {

inline constexpr size_t kColumns = 100;

// Breaks `text` at blanks into lines of at most kColumns. The first line begins in column `indent`;
// the others are indented to it. A word that is longer than a line has a line of its own.
std::string Wrapped(std::string_view text, size_t indent);

}  // namespace jprof::cli
