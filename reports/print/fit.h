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

// Returns a row's name with at most `room` characters. Where it is longer, it loses one after the
// other: what follows " < " (its caller), if it is a Java method its argument types ("load(..)") and
// its packages but their first letters ("c.l.RT.load(..)"), and its end ("..."). Its indentation
// takes at most half of the room.
std::string Fitted(std::string_view text, size_t room);

}  // namespace jprof::reports
