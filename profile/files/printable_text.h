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

// Returns whether it is a byte of a UTF-8 character other than the first: text is not cut before
// such a byte.
inline bool IsInsideCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// Returns the first `most` bytes of the text, or fewer if a character would be cut.
inline std::string_view BeginningOf(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && IsInsideCharacter(text[most])) --most;
  return text.substr(0, most);
}

// Returns the last `most` bytes of the text, or fewer if a character would be cut.
inline std::string_view EndOf(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t begin = text.size() - most;
  while (begin < text.size() && IsInsideCharacter(text[begin])) ++begin;
  return text.substr(begin);
}

}  // namespace jprof::profile
