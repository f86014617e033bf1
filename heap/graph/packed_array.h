// An array of numbers below a limit that is known when it is made, each in as few bits as the limit
// needs.
#pragma once

#include <bit>
#include <cstdint>

#include "heap/graph/lazy_array.h"

namespace jprof::heap {

class PackedArray {
 public:
  PackedArray() = default;
  PackedArray(size_t size, uint32_t limit)
      : bits_(std::max(1u, static_cast<uint32_t>(std::bit_width(limit)))),
        mask_((uint64_t{1} << bits_) - 1),
        words_(size * bits_ / 64 + 2) {}

  uint32_t operator[](size_t i) const {
    const size_t bit = i * bits_, word = bit / 64, shift = bit % 64;
    uint64_t value = words_[word] >> shift;
    if (shift + bits_ > 64) value |= words_[word + 1] << (64 - shift);
    return static_cast<uint32_t>(value & mask_);
  }

  // Requires that the element was not set before.
  void Set(size_t i, uint32_t value) {
    const size_t bit = i * bits_, word = bit / 64, shift = bit % 64;
    words_[word] |= uint64_t{value} << shift;
    if (shift + bits_ > 64) words_[word + 1] |= uint64_t{value} >> (64 - shift);
  }

 private:
  size_t bits_ = 1;
  uint64_t mask_ = 1;
  LazyArray<uint64_t> words_;
};

}  // namespace jprof::heap
