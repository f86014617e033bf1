// Describes the instructions of the JVM (specification, chapter 6): lengths, and which ones refer
// to other instructions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace jprof::weave {

enum class Kind : uint8_t { kInvalid, kPlain, kReturn, kJump, kLongJump, kSwitch, kMonitor, kWide };

namespace opcode {
inline constexpr uint8_t kAconstNull = 1;
inline constexpr uint8_t kIconst0 = 3;
inline constexpr uint8_t kLconst0 = 9;
inline constexpr uint8_t kBipush = 16;
inline constexpr uint8_t kSipush = 17;
inline constexpr uint8_t kLdc = 18;
inline constexpr uint8_t kLdcW = 19;
inline constexpr uint8_t kLdc2W = 20;
inline constexpr uint8_t kIload = 21;
inline constexpr uint8_t kLload = 22;
inline constexpr uint8_t kFload = 23;
inline constexpr uint8_t kDload = 24;
inline constexpr uint8_t kAload = 25;
inline constexpr uint8_t kIstore = 54;
inline constexpr uint8_t kPop = 87;
inline constexpr uint8_t kDup = 89;
inline constexpr uint8_t kDup2 = 92;
inline constexpr uint8_t kImul = 104;
inline constexpr uint8_t kIinc = 132;
inline constexpr uint8_t kI2l = 133;
inline constexpr uint8_t kLcmp = 148;
inline constexpr uint8_t kGoto = 167;
inline constexpr uint8_t kTableswitch = 170;
inline constexpr uint8_t kIreturn = 172;
inline constexpr uint8_t kAreturn = 176;
inline constexpr uint8_t kReturn = 177;
inline constexpr uint8_t kGetstatic = 178;
inline constexpr uint8_t kPutstatic = 179;
inline constexpr uint8_t kGetfield = 180;
inline constexpr uint8_t kPutfield = 181;
inline constexpr uint8_t kInvokevirtual = 182;
inline constexpr uint8_t kInvokespecial = 183;
inline constexpr uint8_t kInvokestatic = 184;
inline constexpr uint8_t kInvokedynamic = 186;
inline constexpr uint8_t kNew = 187;
inline constexpr uint8_t kNewarray = 188;
inline constexpr uint8_t kAnewarray = 189;
inline constexpr uint8_t kAthrow = 191;
inline constexpr uint8_t kCheckcast = 192;
inline constexpr uint8_t kInstanceof = 193;
inline constexpr uint8_t kMonitorenter = 194;
inline constexpr uint8_t kMonitorexit = 195;
inline constexpr uint8_t kWide = 196;
inline constexpr uint8_t kMultianewarray = 197;
inline constexpr uint8_t kIfnull = 198;
}  // namespace opcode

struct Instruction {
  Kind kind = Kind::kInvalid;
  uint8_t length = 0;  // 0 if it is not fixed
};

// Lists the instructions by opcode.
extern const std::array<Instruction, 256> instruction_table;

// The operands of a tableswitch or lookupswitch: the default jump, fixed numbers, and cases, each
// of which ends with a jump of four bytes.
struct Switch {
  uint32_t operands = 0;  // offset of the default jump in the code
  uint32_t fixed = 0;     // bytes between the default jump and the cases
  uint32_t cases = 0;
  uint32_t case_size = 0;

  uint32_t size() const { return 4 + fixed + cases * case_size; }
};

// Returns the switch at an offset. Its operands are 0 if it is malformed or cut off.
Switch ReadSwitch(std::string_view code, uint32_t at);

// Returns the length of the instruction at an offset inside the code, or 0 if it is malformed or
// cut off.
uint32_t InstructionLength(std::string_view code, uint32_t at);

}  // namespace jprof::weave
