// Hashes texts for names and keys: FNV-1a, 64 bits (Fowler, Noll, Vo). It must not protect secrets.
#pragma once

#include <cstdint>
#include <string_view>

namespace jprof::calibrate {

class TextHash {
 public:
  void Add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * kPrime;
    value_ = (value_ ^ 0xff) * kPrime;  // so that {"a","bc"} and {"ab","c"} differ
  }
  uint64_t value() const { return value_; }

 private:
  static constexpr uint64_t kPrime = 0x100000001b3u;
  uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace jprof::calibrate
