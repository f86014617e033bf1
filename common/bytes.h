// A bounded cursor over untrusted bytes: files, ring buffers, records, tables.
//
// - No read goes beyond the end. A read that would do so fails, and from then on the cursor is
//   failed and empty: every later read returns zero or nothing. A parser checks ok() once, at its
//   end.
// - The returned views are valid as long as the bytes.
// - Async-signal-safe: allocates nothing, throws nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace jprof {

class ByteCursor {
 public:
  ByteCursor() = default;
  explicit ByteCursor(std::string_view bytes) noexcept : bytes_(bytes) {}
  explicit ByteCursor(std::span<const uint8_t> bytes) noexcept
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}
  explicit ByteCursor(std::span<const std::byte> bytes) noexcept
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  bool ok() const noexcept { return ok_; }
  bool empty() const noexcept { return bytes_.empty(); }
  size_t left() const noexcept { return bytes_.size(); }
  std::string_view rest() const noexcept { return bytes_; }

  // Reads a number or a plain struct in its memory representation, which is little-endian.
  template <typename T>
  T Read() noexcept {
    static_assert(std::is_trivially_copyable_v<T> && std::endian::native == std::endian::little);
    T value = {};
    const std::string_view bytes = ReadBytes(sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof(T));
    return value;
  }

  // Reads a number in LEB128 (DWARF 5, 7.6). Fails if it is longer than the ten bytes of
  // a 64-bit number.
  uint64_t ReadUleb() noexcept { return ReadLeb().value; }
  int64_t ReadSleb() noexcept {
    const Leb128 leb = ReadLeb();
    const bool extend = leb.negative && leb.bits < 64;
    return static_cast<int64_t>(extend ? leb.value | ~uint64_t{0} << leb.bits : leb.value);
  }

  std::string_view ReadBytes(uint64_t count) noexcept {
    if (count > bytes_.size()) {
      Fail();
      return {};
    }
    const std::string_view taken(bytes_.data(), static_cast<size_t>(count));
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  // Reads the text up to a zero byte, which is skipped. Fails if there is none.
  std::string_view ReadText() noexcept {
    const size_t size = bytes_.find('\0');
    if (size == std::string_view::npos) {
      Fail();
      return {};
    }
    const std::string_view text = ReadBytes(size);
    Skip(1);
    return text;
  }

  // Reads the next `count` bytes as a cursor of their own, which is failed if this one is.
  ByteCursor Part(uint64_t count) noexcept {
    ByteCursor part(ReadBytes(count));
    part.ok_ = ok_;
    return part;
  }
  void Skip(uint64_t count) noexcept { ReadBytes(count); }

  void Fail() noexcept {
    ok_ = false;
    bytes_.remove_prefix(bytes_.size());
  }

 private:
  struct Leb128 {
    uint64_t value = 0;
    uint32_t bits = 0;
    bool negative = false;
  };

  Leb128 ReadLeb() noexcept {
    constexpr uint32_t kMostBits = 70;
    Leb128 leb;
    for (const char raw : bytes_) {
      const auto byte = static_cast<uint8_t>(raw);
      leb.value |= uint64_t{byte & 0x7fu} << leb.bits;
      leb.bits += 7;
      if (byte < 0x80) {
        leb.negative = (byte & 0x40) != 0;
        bytes_.remove_prefix(leb.bits / 7);
        return leb;
      }
      if (leb.bits == kMostBits) break;
    }
    Fail();
    return {};
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace jprof
