// Bytes of unknown number that are appended often, in memory that is used again.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "profile/log/leb128.h"

namespace jprof::profile {

class PackedBytes {
 public:
  void Clear() { size_ = 0; }
  std::string_view view() const { return {bytes_.get(), size_}; }
  size_t size() const { return size_; }

  // Returns the end of the bytes, after which at least `count` can be written before Extend().
  char* Reserve(size_t count) {
    if (capacity_ - size_ < count) Grow(count);
    return bytes_.get() + size_;
  }
  // Takes what was written after Reserve(), up to `end`.
  void Extend(const char* end) { size_ = static_cast<size_t>(end - bytes_.get()); }

  void AppendUleb(uint64_t value) { Extend(PutUleb(Reserve(kLongestLeb), value)); }

 private:
  void Grow(size_t count) {
    const size_t capacity = capacity_ * 2 + count;
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ != 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace jprof::profile
