// A bounded cursor over foreign bytes that knows the address they have in memory. A read past the
// end gives zeroes and makes the reader bad for good: a parser reads on and asks ok() once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace jprof::unwind {

// How a pointer is written in exception frames (DW_EH_PE_*, LSB Core 10.5.1): a format and what it
// is relative to.
enum PointerEncoding : uint8_t {
  kAbsolute = 0x00,
  kUleb128 = 0x01,
  kUdata2 = 0x02,
  kUdata4 = 0x03,
  kUdata8 = 0x04,
  kSleb128 = 0x09,
  kSdata2 = 0x0a,
  kSdata4 = 0x0b,
  kSdata8 = 0x0c,
  kFormatMask = 0x0f,
  kPcRelative = 0x10,
  kRelativeMask = 0x70,
  kOmitted = 0xff,
};

class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(std::span<const uint8_t> bytes, uint64_t address) : bytes_(bytes), address_(address) {}

  bool ok() const { return ok_; }
  bool empty() const { return bytes_.empty(); }
  uint64_t address() const { return address_; }
  std::span<const uint8_t> rest() const { return bytes_; }

  // The next `size` bytes as a reader of their own.
  ByteReader Part(uint64_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      size = bytes_.size();
    }
    ByteReader part(bytes_.first(size), address_);
    part.ok_ = ok_;
    bytes_ = bytes_.subspan(size);
    address_ += size;
    return part;
  }
  void Skip(uint64_t size) { Part(size); }

  template <typename T>
  T Fixed() {
    const ByteReader part = Part(sizeof(T));
    T value = {};
    if (part.bytes_.size() == sizeof(T)) std::memcpy(&value, part.bytes_.data(), sizeof(T));
    return value;
  }

  uint64_t Uleb() { return Leb().value; }
  int64_t Sleb() {
    const auto [value, bits, negative] = Leb();
    return static_cast<int64_t>(negative && bits < 64 ? value | ~uint64_t{0} << bits : value);
  }

  // Zero-terminated.
  std::string_view Text() {
    const auto end = std::find(bytes_.begin(), bytes_.end(), 0);
    const ByteReader text = Part(static_cast<uint64_t>(end - bytes_.begin()));
    Skip(1);
    return {reinterpret_cast<const char*>(text.bytes_.data()), text.bytes_.size()};
  }

  // An indirect one stays what it is: the address of the pointer. Bad: an encoding that has no
  // meaning here.
  uint64_t Pointer(uint8_t encoding) {
    const uint64_t here = address_;
    const uint64_t value = Number(encoding & kFormatMask);
    switch (encoding & kRelativeMask) {
      case kAbsolute:
        return value;
      case kPcRelative:
        return here + value;
      default:
        ok_ = false;
        return 0;
    }
  }

 private:
  struct Leb128 {
    uint64_t value;
    uint32_t bits;
    bool negative;
  };

  Leb128 Leb() {
    Leb128 leb = {};
    for (uint8_t byte = 0x80; (byte & 0x80) != 0 && ok_; leb.bits += 7) {
      byte = Fixed<uint8_t>();
      if (leb.bits < 64) leb.value |= uint64_t{byte & 0x7fu} << leb.bits;
      leb.negative = (byte & 0x40) != 0;
    }
    return leb;
  }

  uint64_t Number(uint8_t format) {
    switch (format) {
      case kAbsolute:
      case kUdata8:
      case kSdata8:
        return Fixed<uint64_t>();
      case kUleb128:
        return Uleb();
      case kSleb128:
        return static_cast<uint64_t>(Sleb());
      case kUdata2:
        return Fixed<uint16_t>();
      case kUdata4:
        return Fixed<uint32_t>();
      case kSdata2:
        return static_cast<uint64_t>(int64_t{Fixed<int16_t>()});
      case kSdata4:
        return static_cast<uint64_t>(int64_t{Fixed<int32_t>()});
      default:
        ok_ = false;
        return 0;
    }
  }

  std::span<const uint8_t> bytes_;
  uint64_t address_ = 0;
  bool ok_ = true;
};

}  // namespace jprof::unwind
