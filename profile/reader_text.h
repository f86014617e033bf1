// Names out of a profile, made fit to print: they come from a JVM's modified UTF-8 or from damage.
#pragma once

#include <string>
#include <string_view>

namespace jprof::profile {

// Valid UTF-8 without control characters: surrogate pairs are joined, what is no text becomes
// U+FFFD, control characters (a name may hold newlines or terminal escapes) become '?'.
std::string CleanText(std::string_view bytes);

}  // namespace jprof::profile
