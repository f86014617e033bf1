// Appends machine code to a buffer that will be placed at a known address. It contains only
// instructions that do not change the flags.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "itrace/data_area.h"

namespace jprof::itrace {

class X86Assembler {
 public:
  // `at` is where the buffer will be, and `data` is where the thread's DataArea is.
  X86Assembler(uint64_t at, uint32_t data) : at_(at), data_(data) {}

  uint64_t here() const { return at_ + bytes_.size(); }
  uint32_t offset() const { return static_cast<uint32_t>(bytes_.size()); }
  uint32_t data() const { return data_; }
  std::vector<uint8_t>& bytes() { return bytes_; }

  void Bytes(std::initializer_list<uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void Bytes(std::span<const uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void Imm32(uint32_t value) { Number(value); }
  void Imm64(uint64_t value) { Number(value); }

  // Appends an instruction whose ModRM selects register `reg` and an absolute address in the
  // data area.
  void WithSlot(std::initializer_list<uint8_t> opcode, uint8_t reg, size_t slot) {
    Bytes(opcode);
    Bytes({static_cast<uint8_t>(reg << 3 | 4), 0x25});
    Imm32(data_ + static_cast<uint32_t>(slot));
  }
  // Does the same with an operand relative to the next instruction.
  void WithRip(std::initializer_list<uint8_t> opcode, uint8_t reg, uint64_t target) {
    Bytes(opcode);
    Bytes({static_cast<uint8_t>(reg << 3 | 5)});
    Imm32(static_cast<uint32_t>(target - (here() + 4)));
  }
  void StoreRax(size_t slot) { WithSlot({0x48, 0x89}, 0, slot); }
  void LoadRax(size_t slot) { WithSlot({0x48, 0x8b}, 0, slot); }
  void StoreRcx(size_t slot) { WithSlot({0x48, 0x89}, 1, slot); }
  void LoadRcx(size_t slot) { WithSlot({0x48, 0x8b}, 1, slot); }
  void AddToRax(uint32_t value) {  // lea rax, [rax + value]
    Bytes({0x48, 0x8d, 0x80});
    Imm32(value);
  }
  // Loads an address into rcx: base + index * scale + displacement, with register numbers of which
  // 0xff means none, or the displacement alone. With `address32` only its low 32 bits.
  void AddressToRcx(uint8_t base, uint8_t index, uint8_t scale, uint64_t displacement,
                    bool address32) {
    constexpr uint8_t kNone = 0xff;
    if (base == kNone && index == kNone) {
      Bytes({0x48, 0xb9});  // mov rcx, imm64
      return Imm64(address32 ? displacement & 0xffffffff : displacement);
    }
    if (address32) Bytes({0x67});
    const bool has_base = base != kNone, has_index = index != kNone;
    const auto rex = static_cast<uint8_t>(0x48 | (has_base && base > 7 ? 1 : 0) |
                                          (has_index && index > 7 ? 2 : 0));
    const int shift = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
    const auto sib = static_cast<uint8_t>(shift << 6 | (has_index ? index & 7 : 4) << 3 |
                                          (has_base ? base & 7 : 5));
    Bytes({rex, 0x8d, static_cast<uint8_t>(has_base ? 0x8c : 0x0c), sib});
    Imm32(static_cast<uint32_t>(displacement));
  }
  void Trap() { Bytes({0xcc}); }
  // Appends a jump and returns the offset of its 32-bit displacement. It leads to the next
  // instruction until the displacement is changed.
  uint32_t Jump() {
    Bytes({0xe9});
    Imm32(0);
    return offset() - 4;
  }
  void SetDisplacement(uint32_t where, uint32_t target) {
    const uint32_t relative = target - (where + 4);
    std::memcpy(&bytes_[where], &relative, 4);
  }

 private:
  template <typename T>
  void Number(T value) {
    const size_t end = bytes_.size();
    bytes_.resize(end + sizeof(value));
    std::memcpy(&bytes_[end], &value, sizeof(value));
  }

  uint64_t at_;
  uint32_t data_;
  std::vector<uint8_t> bytes_;
};

}  // namespace jprof::itrace
