// Reads numbers and texts of JDK Flight Recorder's format from a bounded cursor. Integers are
// compressed (7 bits per byte, low first; the ninth byte has 8) or, in a chunk without that
// feature, big-endian.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "common/bytes.h"

namespace jprof::profile {

class JfrCursor : public ByteCursor {
 public:
  JfrCursor() = default;
  JfrCursor(std::string_view bytes, bool is_compressed)
      : ByteCursor(bytes), is_compressed_(is_compressed) {}

  // Reads an integer, which has `width` bytes if it is not compressed: 1, 2, 4 or 8.
  uint64_t Number(uint32_t width);
  uint64_t Long() { return Number(8); }
  uint32_t Int() { return static_cast<uint32_t>(Number(4)); }
  // Reads big-endian integers, which are never compressed.
  template <typename T>
  T Fixed() {
    return std::byteswap(Read<T>());
  }

  struct Text {
    std::string text;       // UTF-8
    uint64_t constant = 0;  // the key of a String in the constant pool that is the text, or 0
  };
  // Fails the cursor if the text has no known encoding.
  Text ReadString();
  // Does what ReadString does, without making a text.
  void SkipString();

 private:
  bool is_compressed_ = true;
};

}  // namespace jprof::profile
