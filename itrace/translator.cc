#include "itrace/translator.h"

#include <algorithm>
#include <cstring>

#include "itrace/x86_assembler.h"

namespace jprof::itrace {
namespace {

using profile::BranchKind;
using State = CodePoint::State;

constexpr size_t kRax = offsetof(DataArea, rax), kRcx = offsetof(DataArea, rcx),
                 kRing = offsetof(DataArea, ring), kCount = offsetof(DataArea, count),
                 kRepeatSum = offsetof(DataArea, repeats),
                 kRepeatBefore = offsetof(DataArea, repeat_before),
                 kFsBase = offsetof(DataArea, fs_base), kGsBase = offsetof(DataArea, gs_base),
                 kTarget = offsetof(DataArea, target), kTable = offsetof(DataArea, table),
                 kXmm0 = offsetof(DataArea, xmm0), kXmm1 = offsetof(DataArea, xmm1);
constexpr uint64_t kWindow = 16;

struct Line {
  uint64_t address = 0;
  std::span<const uint8_t> bytes;
  X86Instruction instruction;
  MemoryOperands memory = {};
};

bool FitsDisplacement(uint64_t target, uint64_t at) {
  const auto distance = static_cast<int64_t>(target - at);
  return distance > -(int64_t{1} << 31) + 4096 && distance < (int64_t{1} << 31) - 4096;
}

bool HasToBeStepped(X86Kind kind) {
  return kind == X86Kind::kStepped || kind == X86Kind::kUnknown || kind == X86Kind::kSystemCall;
}
bool EndsLine(X86Kind kind) {
  switch (kind) {
    case X86Kind::kJump:
    case X86Kind::kCall:
    case X86Kind::kIndirectJump:
    case X86Kind::kIndirectCall:
    case X86Kind::kReturn:
      return true;
    default:
      return HasToBeStepped(kind);
  }
}

class Translating {
 public:
  Translating(const Source& source, const TranslatorOptions& options, uint64_t at, uint32_t data,
              uint32_t first_exit)
      : source_(source), options_(options), asm_(at, data), at_(at) {
    if (options.quiet.Contains(source.start)) options_.thread_counter.reset();
    result_.start = source.start;
    result_.at = at;
    result_.first_exit = first_exit;
  }

  Translation Run() {
    Scan();
    result_.entry = 0;
    if (source_.checked && end_ > source_.start) {
      Constants();
      result_.entry = asm_.offset();
      Check();
    }
    if (source_.stops && source_.stops(source_.start)) Stop();
    for (const Line& line : lines_) Copy(line);
    if (lines_.empty() || !EndsLine(lines_.back().instruction.kind)) Continue();
    for (size_t i = 0; i < stubs_.size(); ++i) Stub(stubs_[i]);
    result_.end = end_;
    result_.bytes = std::move(asm_.bytes());
    return std::move(result_);
  }

 private:
  struct PendingStub {
    uint32_t displacement;  // of the branch to it
    uint32_t exit;
  };

  // Collects the instructions of the line.
  void Scan() {
    uint64_t address = source_.start;
    std::span<const uint8_t> code = source_.code;
    const uint32_t most = source_.checked ? options_.most_checked_bytes : options_.most_bytes;
    while (lines_.size() < options_.most_instructions && address - source_.start < most) {
      if (!lines_.empty() && source_.stops && source_.stops(address)) break;
      Line line{address, code, DecodeX86(code)};
      const X86Instruction& instruction = line.instruction;
      if (instruction.rip_relative && !CanReach(line)) line.instruction.kind = X86Kind::kStepped;
      line.bytes = code.first(instruction.length);
      if (options_.memory != nullptr) {
        if (SetsSegmentBase(line)) line.instruction.kind = X86Kind::kStepped;
        line.memory = options_.memory->Decode(code, address);
      }
      lines_.push_back(line);
      // What is stepped is not copied, and so need not be compared.
      if (HasToBeStepped(line.instruction.kind)) break;
      address += instruction.length;
      code = code.subspan(instruction.length);
      if (EndsLine(line.instruction.kind)) break;
    }
    end_ = address;
  }
  static uint64_t OperandOf(const Line& line) {
    int32_t displacement = 0;
    std::memcpy(&displacement, &line.bytes[line.instruction.displacement], 4);
    return line.address + line.instruction.length + static_cast<int64_t>(displacement);
  }
  // wrfsbase and wrgsbase: the slots that have the bases are set when the thread enters the cache.
  static bool SetsSegmentBase(const Line& line) {
    const X86Instruction& instruction = line.instruction;
    if (instruction.opcode == 0 || instruction.opcode + 1u >= line.bytes.size()) return false;
    const uint8_t modrm = line.bytes[instruction.opcode + 1u];
    return line.bytes[instruction.opcode - 1u] == 0x0f && line.bytes[instruction.opcode] == 0xae &&
           (modrm & 0xf0) == 0xd0;
  }
  bool CanReach(const Line& line) const {
    return FitsDisplacement(OperandOf(line), at_) && FitsDisplacement(OperandOf(line), at_ + 65536);
  }

  void Point(State state, uint64_t original, uint32_t references = 0) {
    result_.points.push_back({asm_.offset(), state, original, executed_, uncounted_, references});
  }
  void Between() { Point(State::kBetween, 0); }
  uint32_t Exit(CodeExit exit) {
    exit.executed = executed_;
    result_.exits.push_back(exit);
    return static_cast<uint32_t>(result_.exits.size() - 1);
  }
  void Trap(CodeTrap trap) {
    trap.offset = asm_.offset();
    asm_.Trap();
    result_.traps.push_back(trap);
  }
  bool counts() const { return !options_.records || options_.thread_counter; }

  // Describes the aligned 16 bytes that are compared at once.
  struct Window {
    uint64_t start = 0;
    uint64_t constant = 0;  // address of what is expected
    uint64_t mask = 0;      // if 0, all bytes count
  };

  void Constant(uint64_t start, bool mask) {
    for (uint64_t i = start; i < start + kWindow; ++i) {
      const bool compared = i >= source_.start && i < end_;
      const uint8_t code = compared ? source_.code[i - source_.start] : uint8_t{0};
      asm_.Bytes({!compared ? uint8_t{0} : mask ? uint8_t{0xff} : code});
    }
  }
  void Constants() {
    for (uint64_t start = source_.start & ~(kWindow - 1); start < end_; start += kWindow) {
      Window window = {.start = start, .constant = asm_.here()};
      Constant(start, false);
      if (start < source_.start || start + kWindow > end_) {
        window.mask = asm_.here();
        Constant(start, true);
      }
      windows_.push_back(window);
    }
  }

  // Compares the original with what was copied. Traps if they differ.
  void Check() {
    Point(State::kAt, source_.start);
    asm_.WithSlot({0x0f, 0x11}, 0, kXmm0);
    asm_.WithSlot({0x0f, 0x11}, 1, kXmm1);
    asm_.StoreRcx(kRcx);
    for (size_t i = 0; i < windows_.size(); ++i) {
      const uint8_t xmm = i == 0 ? 1 : 0;
      // movdqa, pxor, pand; and por xmm1, xmm0
      asm_.WithRip({0x66, 0x0f, 0x6f}, xmm, windows_[i].start);
      if (i == 0) Between();
      if (windows_[i].mask != 0) asm_.WithRip({0x66, 0x0f, 0xdb}, xmm, windows_[i].mask);
      asm_.WithRip({0x66, 0x0f, 0xef}, xmm, windows_[i].constant);
      if (i != 0) asm_.Bytes({0x66, 0x0f, 0xeb, 0xc8});
    }
    asm_.Bytes({0x66, 0x0f, 0xef, 0xc0,  // pxor xmm0, xmm0
                0x66, 0x0f, 0x74, 0xc8,  // pcmpeqb xmm1, xmm0
                0x66, 0x0f, 0xd7, 0xc9,  // pmovmskb ecx, xmm1
                0x8d, 0x89});            // lea ecx, [rcx - 0xffff]
    asm_.Imm32(0xffff0001);
    const uint32_t restore = asm_.offset();
    asm_.WithSlot({0x0f, 0x10}, 0, kXmm0);
    asm_.WithSlot({0x0f, 0x10}, 0, kXmm0);
    asm_.WithSlot({0x0f, 0x10}, 1, kXmm1);
    asm_.Bytes({0xe3, 9});  // jrcxz
    asm_.LoadRcx(kRcx);
    Point(State::kAt, source_.start);
    Trap({.type = CodeTrap::Type::kChanged, .resume = restore});
    Between();
    asm_.LoadRcx(kRcx);
  }

  void Stop() {
    Point(State::kAt, source_.start);
    Trap({.type = CodeTrap::Type::kStop, .resume = asm_.offset() + 1});
  }

  // Adds the uncounted instructions by lea to a slot or to a place in the thread's own storage.
  void AddCounts() {
    if (!counts() || uncounted_ == 0) return;
    Between();
    asm_.StoreRax(kRax);
    if (!options_.records) {
      asm_.LoadRax(kCount);
      asm_.AddToRax(uncounted_);
      asm_.StoreRax(kCount);
    }
    if (options_.thread_counter) {
      asm_.Bytes({0x64, 0x48, 0x8b, 0x04, 0x25});  // mov rax, fs:[offset]
      asm_.Imm32(static_cast<uint32_t>(*options_.thread_counter));
      asm_.AddToRax(uncounted_);
      asm_.Bytes({0x64, 0x48, 0x89, 0x04, 0x25});
      asm_.Imm32(static_cast<uint32_t>(*options_.thread_counter));
    }
    asm_.LoadRax(kRax);
    uncounted_ = 0;
  }

  // Appends an entry to the ring. Requires that rax is saved. The value is in rcx.
  void Append(uint32_t exit, bool value) {
    asm_.LoadRax(kRing);
    // The value is written first, so that it is what faults if the ring is full.
    if (value) asm_.Bytes({0x48, 0x89, 0x48, 0x08});
    asm_.Bytes({0x48, 0xc7, 0x00});
    asm_.Imm32(result_.first_exit + exit);
    asm_.Bytes({0x48, 0x8d, 0x40, static_cast<uint8_t>(value ? kLongEntry : kShortEntry)});
    asm_.StoreRax(kRing);
  }
  void Push(uint32_t exit) {
    if (!options_.records) return;
    asm_.StoreRax(kRax);
    Append(exit, false);
    asm_.LoadRax(kRax);
  }

  void Leave(uint32_t exit) {
    Between();
    Push(exit);
    result_.exits[exit].jump = asm_.Jump();
    Trap({.type = CodeTrap::Type::kUnlinked, .exit = exit});
  }
  void Stub(const PendingStub& stub) {
    asm_.SetDisplacement(stub.displacement, asm_.offset());
    Leave(stub.exit);
  }

  // Returns how many of its references are in the ring before the instruction is executed.
  static uint32_t ReferencesOf(const Line& line) {
    if (line.instruction.kind == X86Kind::kRepeated) return 0;
    return line.memory.count + (line.memory.unseen ? 1u : 0u);
  }
  // Records what the instruction will read and write.
  void References(const Line& line) {
    if (line.memory.count == 0 && !line.memory.unseen) return;
    Between();
    for (const MemoryOperand& operand : line.memory.found())
      Reference(line, operand,
                operand.repeated ? CodeExit::Type::kRangeBegin : CodeExit::Type::kMemory);
    if (!line.memory.unseen) return;
    asm_.StoreRax(kRax);
    Append(ReferenceExit({.type = CodeExit::Type::kUnseen, .from = line.address}), false);
    asm_.LoadRax(kRax);
  }
  uint32_t ReferenceExit(const CodeExit& exit) {
    const uint32_t index = Exit(exit);
    result_.exits[index].executed = 0;  // the instruction counts with the next branch
    return index;
  }
  void Reference(const Line& line, const MemoryOperand& operand, CodeExit::Type type) {
    asm_.StoreRax(kRax);
    asm_.StoreRcx(kRcx);
    asm_.AddressToRcx(operand.base, operand.index, operand.scale, operand.displacement,
                      operand.address32);
    if (operand.segment != MemoryOperand::Segment::kFlat) {
      asm_.LoadRax(operand.segment == MemoryOperand::Segment::kFs ? kFsBase : kGsBase);
      asm_.Bytes({0x48, 0x8d, 0x0c, 0x01});  // lea rcx, [rcx + rax]
    }
    Append(ReferenceExit({.type = type,
                          .from = line.address,
                          .bytes = operand.bytes,
                          .access = operand.access,
                          .base = operand.base}),
           true);
    asm_.LoadRax(kRax);
    asm_.LoadRcx(kRcx);
  }

  void Copy(const Line& line) {
    const X86Kind kind = line.instruction.kind;
    if (HasToBeStepped(kind)) {
      Point(State::kAt, line.address);
      return Trap({.type = CodeTrap::Type::kStep});
    }
    References(line);
    Point(State::kAt, line.address, ReferencesOf(line));
    if (kind == X86Kind::kPlain || kind == X86Kind::kRepeated) {
      if (kind == X86Kind::kRepeated) return Repeated(line);
      CopyBytes(line);
      ++executed_, ++uncounted_;
      return;
    }
    Branch(line);
  }

  void CopyBytes(const Line& line) {
    const uint32_t start = asm_.offset();
    asm_.Bytes(line.bytes);
    if (!line.instruction.rip_relative) return;
    const auto displacement = static_cast<uint32_t>(OperandOf(line) - asm_.here());
    std::memcpy(&asm_.bytes()[start + line.instruction.displacement], &displacement, 4);
  }

  void Repeated(const Line& line) {
    asm_.StoreRcx(kRepeatBefore);
    Point(State::kInRepeat, line.address);
    CopyBytes(line);
    ++executed_, ++uncounted_;
    Between();
    for (const MemoryOperand& operand : line.memory.found())
      Reference(line, operand, CodeExit::Type::kRangeEnd);
    asm_.StoreRax(kRax);
    asm_.StoreRcx(kRcx);
    asm_.LoadRax(kRepeatBefore);
    asm_.Bytes({0x48, 0xf7, 0xd1,                // not rcx
                0x48, 0x8d, 0x4c, 0x01, 0x01});  // lea rcx, [rcx + rax + 1]
    if (options_.records) {
      Append(Exit({.type = CodeExit::Type::kRepeats, .from = line.address}), true);
      executed_ = 0;
    } else {
      asm_.LoadRax(kRepeatSum);
      asm_.Bytes({0x48, 0x8d, 0x04, 0x08});  // lea rax, [rax + rcx]
      asm_.StoreRax(kRepeatSum);
    }
    asm_.LoadRax(kRax);
    asm_.LoadRcx(kRcx);
  }

  // Translates a branch. The counters include it before it is executed. Nothing is lost if it
  // faults or is interrupted: the points before it have the same uncounted instructions.
  void Branch(const Line& line) {
    const X86Instruction& instruction = line.instruction;
    const uint64_t next = line.address + instruction.length;
    const uint64_t target = next + static_cast<uint64_t>(instruction.relative);
    ++executed_;
    ++uncounted_;
    switch (instruction.kind) {
      case X86Kind::kConditional:
      case X86Kind::kCounted:
        return Conditional(line, target, next);
      case X86Kind::kJump:
        AddCounts();
        return Leave(Exit({.kind = BranchKind::kJump, .from = line.address, .to = target}));
      case X86Kind::kCall:
        PushReturn(next);
        AddCounts();
        return Leave(
            Exit({.kind = BranchKind::kCall, .from = line.address, .to = target, .next = next}));
      default:
        return Indirect(line, next);
    }
  }

  void Conditional(const Line& line, uint64_t target, uint64_t next) {
    const X86Instruction& instruction = line.instruction;
    AddCounts();
    const uint8_t op = line.bytes[instruction.opcode];
    PendingStub stub{};
    if (instruction.kind == X86Kind::kCounted) {
      for (uint8_t i = 0; i < instruction.prefixes; ++i)
        if (line.bytes[i] == 0x67) asm_.Bytes({0x67});
      asm_.Bytes({op, 2, 0xeb, 5});  // to the jump, or over it
      stub.displacement = asm_.Jump();
    } else {
      asm_.Bytes({0x0f, static_cast<uint8_t>(0x80 | (op & 0x0f))});
      asm_.Imm32(0);
      stub.displacement = asm_.offset() - 4;
    }
    stub.exit = Exit({.kind = BranchKind::kTaken, .from = line.address, .to = target});
    stubs_.push_back(stub);
    if (!options_.not_taken || !options_.records) return;
    Between();
    Push(Exit({.type = CodeExit::Type::kNotTaken,
               .kind = BranchKind::kNotTaken,
               .from = line.address,
               .to = next}));
    executed_ = 0;
  }

  void PushReturn(uint64_t next) {
    asm_.Bytes({0x68});  // push, sign extended
    asm_.Imm32(static_cast<uint32_t>(next));
    Between();
    asm_.Bytes({0xc7, 0x44, 0x24, 0x04});  // mov dword [rsp + 4]
    asm_.Imm32(static_cast<uint32_t>(next >> 32));
  }

  // Loads the operand of the branch into rcx by mov.
  void LoadTarget(const Line& line) {
    const X86Instruction& instruction = line.instruction;
    if (instruction.kind == X86Kind::kReturn) return asm_.Bytes({0x48, 0x8b, 0x0c, 0x24});
    for (uint8_t i = 0; i < instruction.prefixes; ++i) {
      const uint8_t prefix = line.bytes[i];
      if (prefix == 0x64 || prefix == 0x65 || prefix == 0x67) asm_.Bytes({prefix});
    }
    asm_.Bytes({static_cast<uint8_t>(0x48 | (instruction.rex & 3)), 0x8b,
                static_cast<uint8_t>((line.bytes[instruction.opcode + 1] & 0xc7) | 1 << 3)});
    asm_.Bytes(line.bytes.subspan(instruction.opcode + 2u));
    if (!instruction.rip_relative) return;
    const auto displacement = static_cast<uint32_t>(OperandOf(line) - asm_.here());
    std::memcpy(&asm_.bytes()[asm_.offset() - 4], &displacement, 4);
  }

  void Indirect(const Line& line, uint64_t next) {
    const X86Instruction& instruction = line.instruction;
    asm_.StoreRcx(kRcx);
    LoadTarget(line);
    const uint32_t before = executed_ - 1, uncounted_before = uncounted_ - 1;
    BranchKind kind = BranchKind::kJump;
    if (instruction.kind == X86Kind::kReturn) {
      kind = BranchKind::kReturn;
      Between();
      asm_.Bytes({0x48, 0x8d, 0xa4, 0x24});  // lea rsp, [rsp + ...]
      asm_.Imm32(8u + instruction.popped);
    } else if (instruction.kind == X86Kind::kIndirectCall) {
      kind = BranchKind::kCall;
      result_.points.push_back({asm_.offset(), State::kAtWithRcx, line.address, before,
                                uncounted_before, ReferencesOf(line)});
      PushReturn(next);
    }
    Between();
    AddCounts();
    asm_.StoreRax(kRax);
    const uint32_t exit = Exit({.type = CodeExit::Type::kIndirect,
                                .kind = kind,
                                .from = line.address,
                                .next = kind == BranchKind::kCall ? next : 0});
    if (options_.records) Append(exit, true);
    asm_.StoreRcx(kTarget);
    asm_.Bytes({0x0f, 0xb7, 0xc1});  // movzx eax, cx
    asm_.Bytes({0xff, 0x24, 0xc5});  // jmp [table + rax * 8]
    asm_.Imm32(data_at(kTable));
  }
  uint32_t data_at(size_t slot) const { return asm_.data() + static_cast<uint32_t>(slot); }

  // Makes the line continue elsewhere, because it is long enough, or because the next instruction
  // is wanted.
  void Continue() {
    AddCounts();
    Leave(Exit({.type = CodeExit::Type::kContinued, .to = end_}));
  }

  const Source& source_;
  TranslatorOptions options_;
  X86Assembler asm_;
  const uint64_t at_;
  uint64_t end_ = 0;
  std::vector<Line> lines_;
  std::vector<Window> windows_;
  std::vector<PendingStub> stubs_;
  uint32_t executed_ = 0, uncounted_ = 0;
  Translation result_;
};

}  // namespace

Translation Translate(const Source& source, const TranslatorOptions& options, uint64_t at,
                      uint32_t data, uint32_t first_exit) {
  return Translating(source, options, at, data, first_exit).Run();
}

std::vector<uint8_t> IndirectEntry(uint64_t original, uint64_t entry, uint64_t at, uint32_t data,
                                   uint64_t otherwise) {
  X86Assembler code(at, data);
  code.Bytes({0x48, 0xb8});  // mov rax, -original
  code.Imm64(0 - original);
  code.Bytes({0x48, 0x8d, 0x0c, 0x01,  // lea rcx, [rcx + rax]
              0xe3, 14});              // jrcxz
  code.LoadRcx(kTarget);
  code.Bytes({0xff, 0x25});  // jmp [the last 8 bytes]
  code.Imm32(8 + 8 + 5);
  code.LoadRax(kRax);
  code.LoadRcx(kRcx);
  const uint32_t jump = code.Jump();
  const auto relative = static_cast<uint32_t>(entry - code.here());
  std::memcpy(&code.bytes()[jump], &relative, 4);
  code.Imm64(otherwise);
  return std::move(code.bytes());
}

}  // namespace jprof::itrace
