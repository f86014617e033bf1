#include "itrace/x86_decoder.h"

#include <cstring>

namespace jprof::itrace {
namespace {

// Lists what may follow an opcode.
enum Form : uint8_t {
  N,    // nothing
  M,    // ModRM
  I1,   // imm8
  IZ,   // imm16 with prefix 66, else imm32
  MI1,  // ModRM, imm8
  MIZ,  // ModRM, imm16 or imm32
  IV,   // imm16, imm32 or imm64
  I2,   // imm16
  I3,   // imm16, imm8
  A,    // an address of 8 bytes
  J1,   // rel8
  JZ,   // rel32
  X,    // not an instruction in 64-bit mode, or handled before the table is used
};

// clang-format off
constexpr Form kOneByte[256] = {
    M, M, M, M, I1, IZ, X, X,  M, M, M, M, I1, IZ, X, X,  // 00
    M, M, M, M, I1, IZ, X, X,  M, M, M, M, I1, IZ, X, X,  // 10
    M, M, M, M, I1, IZ, X, X,  M, M, M, M, I1, IZ, X, X,  // 20
    M, M, M, M, I1, IZ, X, X,  M, M, M, M, I1, IZ, X, X,  // 30
    X, X, X, X, X, X, X, X,  X, X, X, X, X, X, X, X,      // 40: rex
    N, N, N, N, N, N, N, N,  N, N, N, N, N, N, N, N,      // 50
    X, X, X, M, X, X, X, X,  IZ, MIZ, I1, MI1, N, N, N, N,  // 60
    J1, J1, J1, J1, J1, J1, J1, J1,  J1, J1, J1, J1, J1, J1, J1, J1,  // 70
    MI1, MIZ, X, MI1, M, M, M, M,  M, M, M, M, M, M, M, M,  // 80
    N, N, N, N, N, N, N, N,  N, N, X, N, N, N, N, N,      // 90
    A, A, A, A, N, N, N, N,  I1, IZ, N, N, N, N, N, N,    // a0
    I1, I1, I1, I1, I1, I1, I1, I1,  IV, IV, IV, IV, IV, IV, IV, IV,  // b0
    MI1, MI1, I2, N, X, X, MI1, MIZ,  I3, N, I2, N, N, I1, X, N,  // c0
    M, M, M, M, X, X, X, N,  M, M, M, M, M, M, M, M,      // d0
    J1, J1, J1, J1, I1, I1, I1, I1,  JZ, JZ, X, J1, N, N, N, N,  // e0
    X, N, X, X, N, N, M, M,  N, N, N, N, N, N, M, M,      // f0
};

constexpr Form kTwoByte[256] = {
    M, M, M, M, X, N, N, N,  N, N, X, N, X, M, N, MI1,    // 00
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,      // 10
    M, M, M, M, X, X, X, X,  M, M, M, M, M, M, M, M,      // 20
    N, N, N, N, N, N, X, N,  X, X, X, X, X, X, X, X,      // 30
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,      // 40
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,      // 50
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,      // 60
    MI1, MI1, MI1, MI1, M, M, M, N,  M, M, X, X, M, M, M, M,  // 70
    JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ,  JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ,  // 80
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,      // 90
    N, N, N, M, MI1, M, X, X,  N, N, N, M, MI1, M, M, M,  // a0
    M, M, M, M, M, M, M, M,  M, M, MI1, M, M, M, M, M,    // b0
    M, M, MI1, M, MI1, MI1, MI1, M,  N, N, N, N, N, N, N, N,  // c0
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,      // d0
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,      // e0
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,      // f0
};
// clang-format on

class Decoder {
 public:
  explicit Decoder(std::span<const uint8_t> code)
      : code_(code.first(code.size() < kLongestX86 ? code.size() : kLongestX86)) {}

  X86Instruction Decode() {
    Prefixes();
    if (!Opcode() || failed_) return {};
    result_.length = static_cast<uint8_t>(at_);
    if (address32_ && (result_.rip_relative || result_.kind == X86Kind::kRepeated))
      result_.kind = X86Kind::kStepped;
    return result_;
  }

 private:
  uint8_t Next() {
    if (at_ < code_.size()) return code_[at_++];
    failed_ = true;
    return 0;
  }
  uint8_t Peek(size_t ahead = 0) {
    if (at_ + ahead < code_.size()) return code_[at_ + ahead];
    failed_ = true;
    return 0;
  }
  void Skip(size_t bytes) {
    at_ += bytes;
    if (at_ > code_.size()) failed_ = true;
  }
  bool wide() const { return (result_.rex & 8) != 0; }
  // Returns 0 beyond the bytes.
  uint8_t At(size_t place) const { return place < code_.size() ? code_[place] : 0; }
  size_t ImmediateSize() const { return operand16_ && !wide() ? 2 : 4; }

  void Prefixes() {
    for (;; ++at_) {
      switch (Peek()) {
        case 0x66:
          operand16_ = true;
          continue;
        case 0x67:
          address32_ = true;
          continue;
        case 0xf2:
        case 0xf3:
          rep_ = Peek();
          continue;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0xf0:
          continue;
        default:
          break;
      }
      if (failed_) return;
      break;
    }
    result_.prefixes = static_cast<uint8_t>(at_);
    if (Peek() >> 4 == 4) result_.rex = Next();
  }

  // Returns false if this is not an instruction.
  bool Opcode() {
    result_.kind = X86Kind::kPlain;
    result_.opcode = static_cast<uint8_t>(at_);
    const uint8_t op = Next();
    if (op == 0x0f) return TwoByte();
    if (op == 0xc4 || op == 0xc5) return Vex(op == 0xc4);
    if (op == 0x62) return Evex();
    if (op == 0x8f && (Peek() & 0x38) != 0) return Xop();
    if (kOneByte[op] == X || !Operands(kOneByte[op])) return false;
    return Classify(op);
  }

  bool TwoByte() {
    result_.opcode = static_cast<uint8_t>(at_);
    const uint8_t op = Next();
    if (op == 0x38 || op == 0x3a) {
      result_.opcode = static_cast<uint8_t>(at_);
      Next();
      return Operands(op == 0x38 ? M : MI1);
    }
    if (kTwoByte[op] == X || !Operands(kTwoByte[op])) return false;
    if (op == 0x78 && (operand16_ || rep_ == 0xf2)) Skip(2);  // extrq, insertq
    if (op >> 4 == 8) return DirectBranch(X86Kind::kConditional);
    if (op == 0x05) result_.kind = X86Kind::kSystemCall;
    if (op == 0x07 || op == 0x34 || op == 0x35) result_.kind = X86Kind::kStepped;
    return true;
  }

  bool Vex(bool three_bytes) {
    const uint8_t map = three_bytes ? Next() & 0x1f : 1;
    Next();
    return InMap(map);
  }
  bool Evex() {
    const uint8_t first = Next();
    Next();
    Next();
    if ((first & 8) != 0) return false;
    return InMap(first & 7);
  }
  // Reads the opcode after the prefix of a vector instruction.
  bool InMap(uint8_t map) {
    result_.opcode = static_cast<uint8_t>(at_);
    const uint8_t op = Next();
    if (map == 1 && op == 0x77) return true;  // vzeroupper
    if (map == 1 && (kTwoByte[op] == M || kTwoByte[op] == MI1)) return Operands(kTwoByte[op]);
    if (map == 1 && (op == 0x7a || op == 0x7b)) return Operands(M);
    if (map == 2 || map == 5 || map == 6) return Operands(M);
    return map == 3 && Operands(MI1);
  }
  bool Xop() {
    const uint8_t map = Next() & 0x1f;
    Next();
    result_.opcode = static_cast<uint8_t>(at_);
    Next();
    if (map < 8 || map > 10 || !Operands(M)) return false;
    Skip(map == 8 ? 1 : map == 10 ? 4 : 0);
    return true;
  }

  void ModRm() {
    const uint8_t modrm = Next();
    const uint8_t mod = modrm >> 6;
    uint8_t rm = modrm & 7;
    const bool control_register = result_.opcode > 0 && At(result_.opcode - 1) == 0x0f &&
                                  At(result_.opcode) >= 0x20 && At(result_.opcode) <= 0x23;
    if (mod == 3 || control_register) return;
    if (rm == 4) {
      rm = Next() & 7;
      if (mod == 0 && rm == 5) Skip(4);
    } else if (mod == 0 && rm == 5) {
      result_.rip_relative = true;
      result_.displacement = static_cast<uint8_t>(at_);
      Skip(4);
    }
    if (mod == 1) Skip(1);
    if (mod == 2) Skip(4);
  }

  bool Operands(Form form) {
    if (form == M || form == MI1 || form == MIZ) ModRm();
    switch (form) {
      case I1:
      case MI1:
        Skip(1);
        break;
      case IZ:
      case MIZ:
        Skip(ImmediateSize());
        break;
      case IV:
        Skip(wide() ? 8 : ImmediateSize());
        break;
      case I2:
        Skip(2);
        break;
      case I3:
        Skip(3);
        break;
      case A:
        Skip(address32_ ? 4 : 8);
        break;
      case J1:
        relative_ = static_cast<int8_t>(Next());
        break;
      case JZ: {
        int32_t relative = 0;
        if (at_ + 4 <= code_.size()) std::memcpy(&relative, &code_[at_], 4);
        relative_ = relative;
        Skip(4);
        break;
      }
      default:
        break;
    }
    return !failed_;
  }

  // Decodes a direct branch. With an operand size of 16 bits, processors of different makers decode
  // it differently.
  bool DirectBranch(X86Kind kind) {
    if (operand16_ && !wide()) return false;
    result_.kind = kind;
    result_.relative = relative_;
    return true;
  }
  bool IndirectBranch(X86Kind kind) {
    if (operand16_ && !wide()) return false;
    result_.kind = kind;
    return true;
  }

  bool Classify(uint8_t op) {
    if (op >> 4 == 7) return DirectBranch(X86Kind::kConditional);
    if (rep_ != 0 && IsString(op)) result_.kind = X86Kind::kRepeated;
    switch (op) {
      case 0xe0:
      case 0xe1:
      case 0xe2:
      case 0xe3:
        return DirectBranch(X86Kind::kCounted);
      case 0xe8:
        return DirectBranch(X86Kind::kCall);
      case 0xe9:
      case 0xeb:
        return DirectBranch(X86Kind::kJump);
      case 0xc2:
        if (!failed_) std::memcpy(&result_.popped, &code_[at_ - 2], 2);
        return IndirectBranch(X86Kind::kReturn);
      case 0xc3:
        return IndirectBranch(X86Kind::kReturn);
      case 0xf6:
      case 0xf7:
        return Unary(op);
      case 0xff:
        return Group5();
      case 0xc7:
        if (At(result_.opcode + 1) == 0xf8) result_.kind = X86Kind::kStepped;  // xbegin
        return true;
      case 0xca:
      case 0xcb:
      case 0xcc:
      case 0xcd:
      case 0xcf:
      case 0xf1:
        result_.kind = X86Kind::kStepped;
        return true;
      default:
        return true;
    }
  }

  static bool IsString(uint8_t op) {
    return (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) || (op >= 0x6c && op <= 0x6f);
  }

  // Decodes f6 and f7. Test has an immediate operand, the others of the group have none.
  bool Unary(uint8_t op) {
    if ((At(result_.opcode + 1) & 0x30) == 0) Skip(op == 0xf6 ? 1 : ImmediateSize());
    return !failed_;
  }

  bool Group5() {
    switch (At(result_.opcode + 1) >> 3 & 7) {
      case 2:
        return IndirectBranch(X86Kind::kIndirectCall);
      case 3:
      case 5:
        result_.kind = X86Kind::kStepped;
        return true;
      case 4:
        return IndirectBranch(X86Kind::kIndirectJump);
      default:
        return true;
    }
  }

  std::span<const uint8_t> code_;
  size_t at_ = 0;
  bool failed_ = false, operand16_ = false, address32_ = false;
  uint8_t rep_ = 0;
  int64_t relative_ = 0;
  X86Instruction result_;
};

}  // namespace

X86Instruction DecodeX86(std::span<const uint8_t> code) { return Decoder(code).Decode(); }

}  // namespace jprof::itrace
