#include "profile/import/jfr_cursor.h"

namespace jprof::profile {
namespace {

enum class Encoding : uint8_t { kNull, kEmpty, kConstant, kUtf8, kChars, kLatin1 };

// Appends a character of the basic plane, or half of a surrogate pair, as CleanText reads them.
void AppendUtf8(uint32_t c, std::string& to) {
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xc0 | c >> 6);
    to += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    to += static_cast<char>(0xe0 | (c >> 12 & 0xf));
    to += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    to += static_cast<char>(0x80 | (c & 0x3f));
  }
}

}  // namespace

uint64_t JfrCursor::Number(uint32_t width) {
  if (!is_compressed_ || width == 1) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < width; ++i) value = value << 8 | Read<uint8_t>();
    return value;
  }
  constexpr uint32_t kLastShift = 56;
  uint64_t value = 0;
  for (uint32_t shift = 0;; shift += 7) {
    const uint64_t byte = Read<uint8_t>();
    if (shift == kLastShift) return value | byte << shift;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

JfrCursor::Text JfrCursor::ReadString() {
  const auto encoding = static_cast<Encoding>(Read<uint8_t>());
  Text read;
  switch (encoding) {
    case Encoding::kNull:
    case Encoding::kEmpty:
      return read;
    case Encoding::kConstant:
      read.constant = Long();
      return read;
    case Encoding::kUtf8:
      read.text = ReadBytes(Int());
      return read;
    case Encoding::kLatin1:
      for (const char c : ReadBytes(Int())) AppendUtf8(static_cast<uint8_t>(c), read.text);
      return read;
    case Encoding::kChars:
      for (uint32_t left = Int(); left > 0 && ok(); --left)
        AppendUtf8(static_cast<uint16_t>(Number(2)), read.text);
      return read;
  }
  Fail();
  return read;
}

void JfrCursor::SkipString() {
  switch (static_cast<Encoding>(Read<uint8_t>())) {
    case Encoding::kNull:
    case Encoding::kEmpty:
      return;
    case Encoding::kConstant:
      Long();
      return;
    case Encoding::kUtf8:
    case Encoding::kLatin1:
      return Skip(Int());
    case Encoding::kChars:
      for (uint32_t left = Int(); left > 0 && ok(); --left) Number(2);
      return;
  }
  Fail();
}

}  // namespace jprof::profile
