#include "itrace/step_instruction.h"

#include <cstring>

#include "itrace/x86_decoder.h"

namespace jprof::itrace {
namespace {

using Kind = StepInstruction::Kind;

#if defined(__x86_64__)
Kind KindOf(X86Kind kind) {
  switch (kind) {
    case X86Kind::kJump:
    case X86Kind::kIndirectJump:
      return Kind::kJump;
    case X86Kind::kConditional:
    case X86Kind::kCounted:
      return Kind::kConditional;
    case X86Kind::kCall:
    case X86Kind::kIndirectCall:
      return Kind::kCall;
    case X86Kind::kReturn:
      return Kind::kReturn;
    case X86Kind::kSystemCall:
      return Kind::kSystemCall;
    default:
      return Kind::kPlain;
  }
}
#else
Kind KindOfWord(uint32_t word) {
  if (word >> 26 == 0x05) return Kind::kJump;         // b
  if (word >> 26 == 0x25) return Kind::kCall;         // bl
  if (word >> 24 == 0x54) return Kind::kConditional;  // b.cond
  if ((word >> 24 & 0x7e) == 0x34 || (word >> 24 & 0x7e) == 0x36) return Kind::kConditional;
  if ((word & 0xffe0001f) == 0xd4000001) return Kind::kSystemCall;  // svc
  if (word >> 25 == 0x6b) {                                         // by register
    const uint32_t op = word >> 21 & 0xf;
    return (op & 7) == 1 ? Kind::kCall : (op & 7) == 2 ? Kind::kReturn : Kind::kJump;
  }
  return Kind::kPlain;
}
#endif

}  // namespace

#if defined(__x86_64__)
StepInstruction DecodeStep(std::span<const uint8_t> code, uint64_t address) {
  constexpr uint8_t kPushFlags = 0x9c;
  const X86Instruction decoded = DecodeX86(code);
  if (decoded.length == 0) return {};
  StepInstruction result = {.kind = KindOf(decoded.kind), .next = address + decoded.length};
  const uint8_t opcode = code[decoded.opcode];
  result.repeats = decoded.kind == X86Kind::kRepeated;
  result.pushes_flags = opcode == kPushFlags && decoded.opcode == decoded.length - 1 &&
                        decoded.kind == X86Kind::kPlain && decoded.length <= 3;
  if (decoded.kind == X86Kind::kStepped && decoded.length == 2 && code[0] == 0xcd &&
      code[1] == 0x80)
    result.kind = Kind::kSystemCall;  // of 32 bits
  return result;
}
#else
StepInstruction DecodeStep(std::span<const uint8_t> code, uint64_t address) {
  uint32_t word = 0;
  if (code.size() < sizeof(word)) return {};
  std::memcpy(&word, code.data(), sizeof(word));
  return {.kind = KindOfWord(word), .next = address + sizeof(word)};
}
#endif

profile::BranchKind BranchOf(const StepInstruction& instruction, uint64_t to) {
  using profile::BranchKind;
  switch (instruction.kind) {
    case Kind::kJump:
      return BranchKind::kJump;
    case Kind::kConditional:
      return to == instruction.next ? BranchKind::kNotTaken : BranchKind::kTaken;
    case Kind::kCall:
      return BranchKind::kCall;
    case Kind::kReturn:
      return BranchKind::kReturn;
    case Kind::kSystemCall:
      return BranchKind::kSystemCall;
    case Kind::kPlain:
      break;
  }
  // Such an instruction is a far branch or the like.
  return instruction.next != 0 && to != instruction.next ? BranchKind::kJump : BranchKind::kEnd;
}

}  // namespace jprof::itrace
