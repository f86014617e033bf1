// Measures UTF-8 text as terminals show it. Most characters take one cell, wide ones of East Asia
// and emoji two, and combining marks none. Thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace jprof {

// Returns the number of cells of printable text. A byte that is no character takes one.
size_t Cells(std::string_view text);

// Returns the longest beginning of whole characters, with their combining marks, that takes at most
// `cells` cells.
std::string_view FirstCells(std::string_view text, size_t cells);

}  // namespace jprof
