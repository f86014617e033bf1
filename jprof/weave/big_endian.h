// Reads and writes the numbers of class files, which are big-endian.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "common/bytes.h"

namespace jprof::weave {

inline uint8_t ReadU1(ByteCursor& cursor) { return cursor.Read<uint8_t>(); }
inline uint16_t ReadU2(ByteCursor& cursor) { return std::byteswap(cursor.Read<uint16_t>()); }
inline uint32_t ReadU4(ByteCursor& cursor) { return std::byteswap(cursor.Read<uint32_t>()); }

// Returns the number at an offset. Requires that it is inside `bytes`.
template <typename T>
T LoadBig(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return std::byteswap(value);
}

class Output {
 public:
  void U1(uint8_t value) { bytes_.push_back(value); }
  void U2(uint32_t value) { Big(static_cast<uint16_t>(value)); }
  void U4(uint32_t value) { Big(value); }
  void Bytes(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(Extend(bytes.size()), bytes.data(), bytes.size());
  }
  void Zeros(size_t count) { Extend(count); }

  void SetU2(size_t at, uint32_t value) {
    const uint16_t big = std::byteswap(static_cast<uint16_t>(value));
    std::memcpy(bytes_.data() + at, &big, sizeof(big));
  }
  void SetU4(size_t at, uint32_t value) {
    const uint32_t big = std::byteswap(value);
    std::memcpy(bytes_.data() + at, &big, sizeof(big));
  }

  size_t size() const { return bytes_.size(); }
  void Reserve(size_t size) { bytes_.reserve(size); }
  void Truncate(size_t size) { bytes_.resize(size); }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  std::vector<uint8_t> Take() { return std::move(bytes_); }

 private:
  template <typename T>
  void Big(T value) {
    const T big = std::byteswap(value);
    std::memcpy(Extend(sizeof(T)), &big, sizeof(T));
  }
  uint8_t* Extend(size_t count) {
    const size_t before = bytes_.size();
    bytes_.resize(before + count);
    return bytes_.data() + before;
  }

  std::vector<uint8_t> bytes_;
};

}  // namespace jprof::weave
