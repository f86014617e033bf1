#include "jprof/unwind/frame_program.h"

#include <array>
#include <limits>
#include <string_view>

namespace jprof::unwind {
namespace {

using From = FrameRule::From;

// Lists the operations of DWARF 5, 7.24, and the extensions of GCC and AArch64.
enum Op : uint8_t {
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefinedReg = 0x07,
  kSameValue = 0x08,
  kInRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefCfaSigned = 0x12,
  kDefCfaOffsetSigned = 0x13,
  kValOffset = 0x14,
  kValOffsetSigned = 0x15,
  kValExpression = 0x16,
  kNegateReturnAddressStateWithPc = 0x2c,
  kNegateReturnAddressState = 0x2d,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
  kAdvance = 0x40,  // the upper two bits; the lower six are the operand
  kOffset = 0x80,
  kRestore = 0xc0,
};

enum ExpressionOp : uint8_t {
  kDeref = 0x06,
  kLit0 = 0x30,
  kLit15 = 0x3f,
  kBreg0 = 0x70,
  kBreg31 = 0x8f
};

// Compilers do not nest deeper than this.
constexpr size_t kMaxRemembered = 64;

bool Fits(uint64_t offset) {
  const auto value = static_cast<int64_t>(offset);
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

// Represents "register + offset", with an optional load from there: nearly all expressions have
// this form.
struct Simple {
  uint64_t reg, offset;
  bool load;
  bool ok;
};

Simple SimpleExpression(FrameBytes in) {
  const auto op = in.Read<uint8_t>();
  Simple simple = {op - uint64_t{kBreg0}, static_cast<uint64_t>(in.ReadSleb()), false, false};
  simple.load = !in.empty();
  const bool tail = in.empty() || (in.Read<uint8_t>() == kDeref && in.empty());
  simple.ok = op >= kBreg0 && op <= kBreg31 && tail && in.ok();
  return simple;
}

// Recognises the expression that linkers write for .plt: sp + 8 + ((pc & 15) >= N) * 8, for the
// push before the jump. Returns 0 for any other expression.
uint8_t PltThreshold(std::string_view bytes) {
  constexpr std::array<uint8_t, 11> kPlt = {0x77, 8,    0x80,      0,    kLit15, 0x1a,
                                            0,    0x2a, kLit0 + 3, 0x24, 0x22};
  constexpr size_t kN = 6;
  if (bytes.size() != kPlt.size()) return 0;
  for (size_t i = 0; i < kPlt.size(); ++i) {
    if (i != kN && static_cast<uint8_t>(bytes[i]) != kPlt[i]) return 0;
  }
  const char literal = bytes[kN];
  return literal > kLit0 && literal <= kLit15 ? static_cast<uint8_t>(literal - kLit0) : 0;
}

}  // namespace

FrameProgram::FrameProgram(FrameBytes instructions, const Cie& cie, const Machine& machine,
                           uint64_t start)
    : in_(instructions), cie_(cie), machine_(machine), address_(start), state_(cie.initial) {}

bool FrameProgram::Run() {
  while (!in_.empty() && ok()) {
    if (!Step(in_.Read<uint8_t>())) return ok();
  }
  return false;
}

bool FrameProgram::Step(uint8_t op) {
  const uint8_t operand = op & 0x3f;
  switch (op & 0xc0) {
    case kAdvance:
      return Advance(operand);
    case kOffset:
      Save(operand, From::kCfa, in_.ReadUleb() * cie_.data_unit);
      return true;
    case kRestore:
      Restore(operand);
      return true;
    default:
      return Extended(op);
  }
}

bool FrameProgram::Extended(uint8_t op) {
  const auto sleb = [&] { return static_cast<uint64_t>(in_.ReadSleb()); };
  // Operands are read into variables first: the evaluation order of arguments is unspecified.
  uint64_t reg = 0;
  switch (op) {
    case kNop:
    case kNegateReturnAddressState:
    case kNegateReturnAddressStateWithPc:
      break;
    case kSetLoc: {
      const uint64_t to = in_.ReadPointer(cie_.pointer_encoding);
      ok_ = ok_ && to >= address_;
      address_ = to;
      return false;
    }
    case kAdvance1:
      return Advance(in_.Read<uint8_t>());
    case kAdvance2:
      return Advance(in_.Read<uint16_t>());
    case kAdvance4:
      return Advance(in_.Read<uint32_t>());
    case kOffsetExtended:
      reg = in_.ReadUleb();
      Save(reg, From::kCfa, in_.ReadUleb() * cie_.data_unit);
      break;
    case kOffsetExtendedSigned:
      reg = in_.ReadUleb();
      Save(reg, From::kCfa, sleb() * cie_.data_unit);
      break;
    case kGnuNegativeOffsetExtended:
      reg = in_.ReadUleb();
      Save(reg, From::kCfa, -in_.ReadUleb() * cie_.data_unit);
      break;
    case kRestoreExtended:
      Restore(in_.ReadUleb());
      break;
    case kUndefinedReg:
      Save(in_.ReadUleb(), From::kUndefined, 0);
      break;
    case kSameValue:
      Save(in_.ReadUleb(), From::kUnchanged, 0);
      break;
    case kInRegister:
    case kValOffset:
      reg = in_.ReadUleb();
      in_.ReadUleb();
      Save(reg, From::kUnknown, 0);
      break;
    case kValOffsetSigned:
      reg = in_.ReadUleb();
      in_.ReadSleb();
      Save(reg, From::kUnknown, 0);
      break;
    case kRememberState:
      if (remembered_.size() >= kMaxRemembered) ok_ = false;
      if (ok_) remembered_.push_back(state_);
      break;
    case kRestoreState:
      ok_ = ok_ && !remembered_.empty();
      if (!ok_) break;
      state_ = remembered_.back();
      remembered_.pop_back();
      break;
    case kDefCfa:
      reg = in_.ReadUleb();
      DefineCfa(reg, in_.ReadUleb());
      break;
    case kDefCfaSigned:
      reg = in_.ReadUleb();
      DefineCfa(reg, sleb() * cie_.data_unit);
      break;
    case kDefCfaRegister:
      DefineCfa(in_.ReadUleb(), state_.cfa_offset);
      break;
    case kDefCfaOffset:
      DefineCfa(state_.cfa_register, in_.ReadUleb());
      break;
    case kDefCfaOffsetSigned:
      DefineCfa(state_.cfa_register, sleb() * cie_.data_unit);
      break;
    case kDefCfaExpression:
      CfaExpression(in_.Part(in_.ReadUleb()));
      break;
    case kExpression:
      reg = in_.ReadUleb();
      SaveByExpression(reg, in_.Part(in_.ReadUleb()));
      break;
    case kValExpression:
      reg = in_.ReadUleb();
      in_.Skip(in_.ReadUleb());
      Save(reg, From::kUnknown, 0);
      break;
    case kGnuArgsSize:
      in_.ReadUleb();
      break;
    default:
      ok_ = false;
  }
  return true;
}

bool FrameProgram::Advance(uint64_t units) {
  const uint64_t to = address_ + units * cie_.code_unit;
  ok_ = ok_ && to >= address_;
  address_ = to;
  return false;
}

void FrameProgram::DefineCfa(uint64_t reg, uint64_t offset) {
  state_.cfa_register = reg;
  state_.cfa_offset = offset;
  state_.has_expression = false;
}

void FrameProgram::CfaExpression(FrameBytes expression) {
  const Simple simple = SimpleExpression(expression);
  FrameRule& cfa = state_.cfa_expression = FrameRule();
  state_.has_expression = true;
  if (const uint8_t threshold = PltThreshold(expression.rest());
      threshold != 0 && machine_.sp == kX86.sp) {
    cfa.cfa = From::kPlt;
    cfa.cfa_offset = threshold;
  } else if (simple.ok && Fits(simple.offset)) {
    cfa.cfa_offset = static_cast<int32_t>(simple.offset);
    if (simple.reg == machine_.sp) cfa.cfa = simple.load ? From::kAtSp : From::kSp;
    if (simple.reg == machine_.fp) cfa.cfa = simple.load ? From::kAtFp : From::kFp;
  }
}

void FrameProgram::Save(uint64_t reg, FrameRule::From from, uint64_t offset) {
  if (reg == machine_.sp) state_.moves_sp = from != From::kUnchanged;
  if (reg != machine_.fp && reg != machine_.return_address) return;
  if (!Fits(offset)) from = From::kUnknown;
  const bool is_fp = reg == machine_.fp;
  (is_fp ? state_.rule.fp : state_.rule.ra) = from;
  (is_fp ? state_.rule.fp_offset : state_.rule.ra_offset) =
      from == From::kUnknown ? 0 : static_cast<int32_t>(offset);
}

void FrameProgram::SaveByExpression(uint64_t reg, FrameBytes expression) {
  const Simple simple = SimpleExpression(expression);
  From from = From::kUnknown;
  if (simple.ok && !simple.load && simple.reg == machine_.sp) from = From::kSp;
  if (simple.ok && !simple.load && simple.reg == machine_.fp) from = From::kFp;
  Save(reg, from, simple.offset);
}

void FrameProgram::Restore(uint64_t reg) {
  const FrameState& initial = cie_.initial;
  if (reg == machine_.sp) state_.moves_sp = initial.moves_sp;
  if (reg == machine_.fp) {
    state_.rule.fp = initial.rule.fp;
    state_.rule.fp_offset = initial.rule.fp_offset;
  } else if (reg == machine_.return_address) {
    state_.rule.ra = initial.rule.ra;
    state_.rule.ra_offset = initial.rule.ra_offset;
  }
}

FrameRule RuleOf(const FrameState& state, const Machine& machine, bool signal) {
  FrameRule rule = state.rule;
  rule.signal = signal;
  if (state.has_expression) {
    rule.cfa = state.cfa_expression.cfa;
    rule.cfa_offset = state.cfa_expression.cfa_offset;
  } else if (Fits(state.cfa_offset)) {
    rule.cfa_offset = static_cast<int32_t>(state.cfa_offset);
    if (state.cfa_register == machine.sp) rule.cfa = From::kSp;
    if (state.cfa_register == machine.fp) rule.cfa = From::kFp;
  }
  // A signal frame has a rule for sp, as for all registers, which is equal to the CFA.
  if (state.moves_sp && !signal) rule.cfa = From::kUnknown;
  const bool no_caller = rule.ra == From::kUndefined;
  return no_caller || rule.cfa == From::kUnknown || rule.ra == From::kUnknown
             ? FrameRule{.ra = no_caller ? From::kUndefined : From::kUnknown}
             : rule;
}

}  // namespace jprof::unwind
