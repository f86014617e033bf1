// Makes names from a profile printable: they are modified UTF-8 from the JVM, or damaged bytes.
#pragma once

#include <string>
#include <string_view>

namespace jprof::profile {

//
// - Surrogate pairs are joined.
// - Invalid bytes become U+FFFD.
// - Control characters become '?', because a name may contain newlines or terminal escapes. So do
//   characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069).
std::string CleanText(std::string_view bytes);

}  // namespace jprof::profile
