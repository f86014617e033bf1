// Texts in memory of the caller, which are cut where they do not fit.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace jprof::cpo {

template <size_t kBytes>
class Text {
 public:
  Text& Add(const char* text) { return Add(text, strlen(text)); }
  Text& Add(const char* text, size_t bytes) {
    for (size_t i = 0; i < bytes && size_ + 1 < kBytes; ++i)
      bytes_[size_++] = text[i] == '\n' ? '?' : text[i];
    bytes_[size_] = '\0';
    return *this;
  }
  Text& AddNumber(uint64_t value, unsigned base) {
    char digits[24];
    size_t at = sizeof digits;
    do {
      digits[--at] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    return Add(digits + at, sizeof digits - at);
  }
  const char* c_str() const { return bytes_; }
  size_t size() const { return size_; }

 private:
  char bytes_[kBytes] = {};
  size_t size_ = 0;
};

// Returns what groups and directives are compared by, never 0. It is FNV-1a.
inline uint64_t HashOf(const char* text, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3;
  return hash != 0 ? hash : 1;
}

// Returns the part of a path after its last slash.
inline const char* NameOf(const char* path) {
  const char* const slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

}  // namespace jprof::cpo
