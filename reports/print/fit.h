// Shortens names to the width of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::reports {

// Returns the number of characters in UTF-8 text.
size_t Characters(std::string_view text);

// Returns the text or, if it has more characters than `room`, its beginning and "...".
std::string Cut(std::string_view text, size_t room);

// Returns a row's name with at most `room` characters. A longer name is shortened step by step
// until it fits: without what follows " < " (its caller); of a Java method without the argument
// types ("load(..)"), then with only the first letters of the packages ("c.l.RT.load(..)"); and
// without its end ("..."). The indentation takes at most half of the characters.
std::string Fitted(std::string_view text, size_t room);

}  // namespace jprof::reports
