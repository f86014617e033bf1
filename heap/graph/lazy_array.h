// An array of zeros in pages of its own, which take memory when they are first written. Its memory
// is given back as soon as it is destroyed, and not kept by malloc. A large array has large pages
// if the system has: the graph is visited in no order, and a third of the time went to the tables
// of small pages. Throws std::bad_alloc if the address space is exhausted.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "common/mapped_memory.h"

namespace jprof::heap {

template <typename T>
class LazyArray {
 public:
  LazyArray() = default;
  explicit LazyArray(size_t size) : size_(size), data_(MapArray<T>(std::max<size_t>(size, 1))) {
    if (data_ == nullptr) throw std::bad_alloc();
    constexpr size_t kLarge = size_t{16} << 20;
    if (size * sizeof(T) >= kLarge) madvise(data_, size * sizeof(T), MADV_HUGEPAGE);
  }
  LazyArray(LazyArray&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~LazyArray() { UnmapArray(data_, std::max<size_t>(size_, 1)); }

  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  size_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace jprof::heap
