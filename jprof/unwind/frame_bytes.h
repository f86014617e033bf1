// A cursor over bytes of exception frames, with their address in memory.
#pragma once

#include <cstdint>
#include <span>

#include "common/bytes.h"

namespace jprof::unwind {

// The encoding of a pointer in exception frames (DW_EH_PE_*, LSB Core 10.5.1): its format, and what
// it is relative to.
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

class FrameBytes : public ByteCursor {
 public:
  FrameBytes() = default;
  FrameBytes(std::span<const uint8_t> bytes, uint64_t address) noexcept
      : FrameBytes(ByteCursor(bytes), address) {}

  // Returns the address of the next byte.
  uint64_t address() const noexcept { return end_ - left(); }

  FrameBytes Part(uint64_t count) noexcept {
    const uint64_t begin = address();
    return {ByteCursor::Part(count), begin};
  }

  // Reads a pointer. An indirect pointer is returned as stored: the address of the pointer. Fails
  // for encodings that are not valid here.
  uint64_t ReadPointer(uint8_t encoding) noexcept {
    const uint64_t here = address();
    const uint64_t value = ReadNumber(encoding & kFormatMask);
    switch (encoding & kRelativeMask) {
      case kAbsolute:
        return value;
      case kPcRelative:
        return here + value;
      default:
        Fail();
        return 0;
    }
  }

 private:
  FrameBytes(ByteCursor bytes, uint64_t address) noexcept
      : ByteCursor(bytes), end_(address + bytes.left()) {}

  uint64_t ReadNumber(uint8_t format) noexcept {
    switch (format) {
      case kAbsolute:
      case kUdata8:
      case kSdata8:
        return Read<uint64_t>();
      case kUleb128:
        return ReadUleb();
      case kSleb128:
        return static_cast<uint64_t>(ReadSleb());
      case kUdata2:
        return Read<uint16_t>();
      case kUdata4:
        return Read<uint32_t>();
      case kSdata2:
        return static_cast<uint64_t>(int64_t{Read<int16_t>()});
      case kSdata4:
        return static_cast<uint64_t>(int64_t{Read<int32_t>()});
      default:
        Fail();
        return 0;
    }
  }

  uint64_t end_ = 0;  // address after the last byte
};

}  // namespace jprof::unwind
