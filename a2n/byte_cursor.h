// Reads foreign bytes in order and never past their end. After a failed read it stays failed and
// gives zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace jprof::a2n {

class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t left() const { return bytes_.size(); }

  // Little-endian, as this machine is.
  template <typename T>
  T Number() {
    T value = 0;
    const std::string_view bytes = Bytes(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view Bytes(uint64_t count) {
    if (!ok_ || count > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, static_cast<size_t>(count));
    bytes_.remove_prefix(static_cast<size_t>(count));
    return taken;
  }
  // Up to a zero, which is taken but not given; without one it fails.
  std::string_view Text() {
    const size_t end = bytes_.find('\0');
    if (!ok_ || end == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, end);
    bytes_.remove_prefix(end + 1);
    return taken;
  }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace jprof::a2n
