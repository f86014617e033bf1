// Shortens names to the width of a terminal, in its cells (common/terminal_cells.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::reports {

// Returns the text or, if it takes more cells than `room`, its beginning and "...".
std::string Cut(std::string_view text, size_t room);

// Returns a row's name with at most `room` cells. A longer name is shortened step by step
// until it fits: without what follows " < " (its caller); of a Java method without the argument
// types ("load(..)"), then with only the first letters of the packages ("c.l.RT.load(..)"); and
// without its end ("..."). The indentation takes at most half of them.
std::string Fitted(std::string_view text, size_t room);

// Returns a text that is not a name with at most `room` cells: without its end ("..."). The
// indentation takes at most half of them.
std::string FittedProse(std::string_view text, size_t room);

// Returns the cells for a name behind `used` ones in a line of `width`: a few at least, however
// narrow the terminal is.
size_t RoomBehind(size_t used, size_t width);

// Returns a line of text whose numbers, `begin`, are whole, and whose name is cut to `width`; 0 for
// any.
std::string FittedLine(std::string begin, std::string_view name, size_t width);

}  // namespace jprof::reports
