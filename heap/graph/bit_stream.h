// A sequence of bits that is written from its beginning and read from either end.
#pragma once

#include <cstdint>

#include "heap/graph/lazy_array.h"

namespace jprof::heap {

class BitStream {
 public:
  BitStream() = default;
  explicit BitStream(uint64_t most) : words_(most / 64 + 1) {}

  void Push(bool bit) {
    if (bit) words_[size_ / 64] |= uint64_t{1} << (size_ % 64);
    ++size_;
  }
  bool operator[](uint64_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  uint64_t size() const { return size_; }

 private:
  LazyArray<uint64_t> words_;
  uint64_t size_ = 0;
};

}  // namespace jprof::heap
