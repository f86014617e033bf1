// An array of sums, in 32 bits each if all sums together fit.
#pragma once

#include <cstdint>

#include "heap/graph/lazy_array.h"

namespace jprof::heap {

class SizeArray {
 public:
  SizeArray() = default;
  // No element becomes larger than `total`.
  SizeArray(size_t size, uint64_t total) {
    if (total <= UINT32_MAX) {
      small_ = LazyArray<uint32_t>(size);
    } else {
      large_ = LazyArray<uint64_t>(size);
    }
  }

  uint64_t operator[](size_t i) const { return large_.empty() ? small_[i] : large_[i]; }
  void Add(size_t i, uint64_t value) {
    if (large_.empty()) {
      small_[i] += static_cast<uint32_t>(value);
    } else {
      large_[i] += value;
    }
  }

 private:
  LazyArray<uint32_t> small_;
  LazyArray<uint64_t> large_;
};

}  // namespace jprof::heap
