#include "profile/files/printable_text.h"

#include <algorithm>
#include <cstdint>

namespace jprof::profile {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

void Append(std::string& text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | code >> 18);
    text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// Returns the next code point of one UTF-8 sequence, and surrogates as they are. Advances by at
// least one byte.
uint32_t Next(std::string_view bytes, size_t& at) {
  const auto byte = [&](size_t i) {
    return i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0u;
  };
  const uint32_t first = byte(at++);
  const int more = first < 0x80       ? 0
                   : first >> 5 == 6  ? 1
                   : first >> 4 == 14 ? 2
                   : first >> 3 == 30 ? 3
                                      : -1;
  if (more < 0) return kReplacement;
  uint32_t code = more == 0 ? first : first & (0x3fu >> more);
  for (int i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return kReplacement;
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  at += more;
  static constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  const bool modified_nul = code == 0 && more == 1;  // the JVM writes NUL as two bytes
  if ((code < kSmallest[more] && !modified_nul) || code > 0x10ffff) return kReplacement;
  return code;
}

// Returns whether the character changes the direction of the text that follows, and so how a name
// looks.
bool Reorders(uint32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string CleanText(std::string_view bytes) {
  if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0x20 && c < 0x7f; })) {
    return std::string(bytes);
  }
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    uint32_t code = Next(bytes, at);
    if (code >= 0xd800 && code < 0xdc00) {  // the high half: join it with a low one
      size_t after = at;
      const uint32_t low = after < bytes.size() ? Next(bytes, after) : 0;
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at = after;
      }
    }
    if (code >= 0xd800 && code < 0xe000) code = kReplacement;
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0) || Reorders(code);
    Append(text, control ? '?' : code);
  }
  return text;
}

}  // namespace jprof::profile
