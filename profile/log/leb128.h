// Encodes numbers in LEB128 (DWARF 5, 7.6); ByteCursor (common/bytes.h) reads them.
#pragma once

#include <cstdint>

namespace jprof::profile {

inline constexpr int kLongestLeb = 10;  // bytes of a 64-bit number

// Both write a number at `out`, where kLongestLeb bytes must be free, and return its end.
inline char* PutUleb(char* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<char>(value | 0x80);
  *out++ = static_cast<char>(value);
  return out;
}

inline char* PutSleb(char* out, int64_t value) {
  for (;; value >>= 7) {
    const bool last = value >= -64 && value < 64;
    *out++ = static_cast<char>((value & 0x7f) | (last ? 0 : 0x80));
    if (last) return out;
  }
}

}  // namespace jprof::profile
