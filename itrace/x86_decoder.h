// Decodes x86-64 machine code as far as copying it requires: lengths, rip-relative operands, and
// instructions that leave the straight line. Pure; reads no memory but the bytes it is given.
#pragma once

#include <cstdint>
#include <span>

namespace jprof::itrace {

enum class X86Kind : uint8_t {
  kPlain,         // has the same effect at any address, once its rip-relative operand is adjusted
  kRepeated,      // a string instruction with a rep prefix; otherwise like kPlain
  kJump,          // direct
  kConditional,   // jcc
  kCounted,       // loop, loope, loopne, jrcxz
  kCall,          // direct
  kIndirectJump,  // near, by register or memory
  kIndirectCall,
  kReturn,      // near
  kSystemCall,  // the instruction syscall
  kStepped,     // has to be executed at its own address: int, far branches, iret, xbegin ...
  kUnknown,     // an unknown instruction; its length is unknown, too
};

struct X86Instruction {
  X86Kind kind = X86Kind::kUnknown;
  uint8_t length = 0;         // 0 if kUnknown
  uint8_t prefixes = 0;       // legacy prefixes before rex or the opcode
  uint8_t rex = 0;            // 0 if there is none
  uint8_t opcode = 0;         // offset of the (last) opcode byte
  uint8_t displacement = 0;   // offset of the 32-bit displacement if rip_relative
  bool rip_relative = false;  // has a memory operand at rip + displacement
  int64_t relative = 0;       // for direct branches, target - address of the next instruction
  uint16_t popped = 0;        // ret imm16
};

inline constexpr uint8_t kLongestX86 = 15;

// Decodes the first instruction. Returns kUnknown also if the bytes end before it does.
X86Instruction DecodeX86(std::span<const uint8_t> code);

}  // namespace jprof::itrace
