#include "itrace/memory_operands.h"

#include <capstone/capstone.h>

#include <algorithm>

#include "itrace/x86_decoder.h"

namespace jprof::itrace {
namespace {

#if defined(__x86_64__)
using profile::MemoryAccess;

constexpr uint8_t kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7;
constexpr uint8_t kOperand16 = 0x66, kAddress32 = 0x67;
constexpr uint8_t kWide = 8;  // of rex

// Returns the number of a general register of 64 or 32 bits, or kNone.
uint8_t NumberOf(x86_reg reg) {
  static constexpr x86_reg kWideRegisters[] = {X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX,
                                               X86_REG_RSP, X86_REG_RBP, X86_REG_RSI, X86_REG_RDI,
                                               X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
                                               X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15};
  static constexpr x86_reg kNarrowRegisters[] = {
      X86_REG_EAX,  X86_REG_ECX,  X86_REG_EDX,  X86_REG_EBX, X86_REG_ESP,  X86_REG_EBP,
      X86_REG_ESI,  X86_REG_EDI,  X86_REG_R8D,  X86_REG_R9D, X86_REG_R10D, X86_REG_R11D,
      X86_REG_R12D, X86_REG_R13D, X86_REG_R14D, X86_REG_R15D};
  for (uint8_t i = 0; i < 16; ++i) {
    if (reg == kWideRegisters[i] || reg == kNarrowRegisters[i]) return i;
  }
  return MemoryOperand::kNone;
}

bool IsRepeatable(uint8_t opcode) {
  return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf);
}

// Instructions whose operand in memory is an address only.
bool AccessesNothing(unsigned id) {
  switch (id) {
    case X86_INS_LEA:
    case X86_INS_NOP:
    case X86_INS_PREFETCH:
    case X86_INS_PREFETCHW:
    case X86_INS_PREFETCHNTA:
    case X86_INS_PREFETCHT0:
    case X86_INS_PREFETCHT1:
    case X86_INS_PREFETCHT2:
    case X86_INS_CLFLUSH:
    case X86_INS_CLFLUSHOPT:
    case X86_INS_CLWB:
    case X86_INS_INVLPG:
      return true;
    default:
      return false;
  }
}

// Returns how an instruction accesses its operand in memory. `target` states that it is the first
// of several operands. Capstone 4 has no flags for some instructions, and wrong ones for others.
MemoryAccess AccessOf(unsigned id, uint8_t flags, bool target) {
  switch (id) {
    case X86_INS_FXSAVE:
    case X86_INS_FXSAVE64:
    case X86_INS_XSAVE:
    case X86_INS_XSAVE64:
    case X86_INS_XSAVEC:
    case X86_INS_XSAVEC64:
    case X86_INS_XSAVEOPT:
    case X86_INS_XSAVEOPT64:
    case X86_INS_STMXCSR:
    case X86_INS_VSTMXCSR:
    case X86_INS_FNSTCW:
    case X86_INS_FNSTSW:
    case X86_INS_FNSTENV:
    case X86_INS_FNSAVE:
    case X86_INS_FST:
    case X86_INS_FSTP:
    case X86_INS_FIST:
    case X86_INS_FISTP:
    case X86_INS_FISTTP:
    case X86_INS_FBSTP:
      return MemoryAccess::kStore;
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_BT:
      return MemoryAccess::kLoad;
    case X86_INS_CMPXCHG:
    case X86_INS_CMPXCHG8B:
    case X86_INS_CMPXCHG16B:
      return MemoryAccess::kModify;
    default:
      break;
  }
  if ((flags & CS_AC_WRITE) == 0) return target ? MemoryAccess::kStore : MemoryAccess::kLoad;
  return (flags & CS_AC_READ) != 0 ? MemoryAccess::kModify : MemoryAccess::kStore;
}

class Finding {
 public:
  Finding(const cs_insn& instruction, const X86Instruction& decoded, std::span<const uint8_t> code)
      : instruction_(instruction), x86_(instruction.detail->x86), decoded_(decoded), code_(code) {}

  MemoryOperands Run() {
    const uint8_t opcode = code_[decoded_.opcode];
    const bool one_byte = decoded_.opcode == decoded_.prefixes + (decoded_.rex != 0 ? 1u : 0u);
    if (one_byte && IsRepeatable(opcode)) {
      String(opcode);
      return result_;
    }
    if (one_byte && opcode == 0xd7) result_.unseen = true;  // xlat: its index is al
    if (AccessesNothing(instruction_.id)) return result_;
    Implicit(MemoryAccess::kLoad);
    for (uint8_t i = 0; i < x86_.op_count; ++i) {
      if (x86_.operands[i].type == X86_OP_MEM)
        Explicit(x86_.operands[i], i == 0 && x86_.op_count > 1);
    }
    Implicit(MemoryAccess::kStore);
    return result_;
  }

 private:
  bool HasPrefix(uint8_t prefix) const {
    return std::ranges::count(code_.first(decoded_.prefixes), prefix) != 0;
  }
  void Add(const MemoryOperand& operand) {
    if (result_.count < MemoryOperands::kMost) result_.all[result_.count++] = operand;
  }

  void String(uint8_t opcode) {
    const bool wide = (decoded_.rex & kWide) != 0;
    const uint32_t whole = wide ? 8 : HasPrefix(kOperand16) ? 2 : 4;
    MemoryOperand operand = {.repeated = decoded_.kind == X86Kind::kRepeated,
                             .bytes = (opcode & 1) == 0 ? 1 : whole};
    const bool reads_source = opcode <= 0xa7 || opcode == 0xac || opcode == 0xad;
    const bool reads_target = (opcode & 0xfe) == 0xa6 || (opcode & 0xfe) == 0xae;
    const bool writes_target = (opcode & 0xfe) == 0xa4 || (opcode & 0xfe) == 0xaa;
    operand.base = kRsi;
    if (reads_source) Add(operand);
    operand.base = kRdi;
    operand.access = writes_target ? MemoryAccess::kStore : MemoryAccess::kLoad;
    if (reads_target || writes_target) Add(operand);
  }

  // Adds what the instruction does on the stack, or by a register that is not an operand.
  void Implicit(MemoryAccess access) {
    const uint32_t size = HasPrefix(kOperand16) && (decoded_.rex & kWide) == 0 ? 2 : 8;
    MemoryOperand stack = {.base = kRsp, .access = access, .bytes = size};
    switch (instruction_.id) {
      case X86_INS_PUSH:
      case X86_INS_PUSHF:
      case X86_INS_PUSHFQ:
      case X86_INS_CALL:
        stack.displacement = 0 - uint64_t{size};
        if (access == MemoryAccess::kStore) Add(stack);
        return;
      case X86_INS_ENTER:
        stack.displacement = 0 - uint64_t{8};
        if (access == MemoryAccess::kStore) Add(stack);
        return;
      case X86_INS_POP:
      case X86_INS_POPF:
      case X86_INS_POPFQ:
      case X86_INS_RET:
        if (access == MemoryAccess::kLoad) Add(stack);
        return;
      case X86_INS_LEAVE:
        stack.base = kRbp;
        if (access == MemoryAccess::kLoad) Add(stack);
        return;
      case X86_INS_MASKMOVQ:
      case X86_INS_MASKMOVDQU:
      case X86_INS_VMASKMOVDQU:
        if (access == MemoryAccess::kStore) Add({.base = kRdi, .access = access, .bytes = 16});
        return;
      default:
        return;
    }
  }

  void Explicit(const cs_x86_op& from, bool target) {
    const x86_op_mem& memory = from.mem;
    MemoryOperand operand = {.scale = static_cast<uint8_t>(memory.scale),
                             .address32 = HasPrefix(kAddress32),
                             .access = AccessOf(instruction_.id, from.access, target),
                             .bytes = from.size,
                             .displacement = static_cast<uint64_t>(memory.disp)};
    if (memory.base == X86_REG_RIP || memory.base == X86_REG_EIP) {
      operand.displacement += instruction_.address + instruction_.size;
    } else if (memory.base != X86_REG_INVALID) {
      operand.base = NumberOf(memory.base);
      if (operand.base == MemoryOperand::kNone) return Unseen();
    }
    const bool no_index = memory.index == X86_REG_INVALID || memory.index == X86_REG_RIZ ||
                          memory.index == X86_REG_EIZ;
    if (!no_index) {
      operand.index = NumberOf(memory.index);
      if (operand.index == MemoryOperand::kNone) return Unseen();
    }
    if (memory.segment == X86_REG_FS) operand.segment = MemoryOperand::Segment::kFs;
    if (memory.segment == X86_REG_GS) operand.segment = MemoryOperand::Segment::kGs;
    // pop computes the address of its operand after it has changed rsp.
    if (instruction_.id == X86_INS_POP && operand.base == kRsp) operand.displacement += 8;
    if (instruction_.id == X86_INS_POP) operand.access = MemoryAccess::kStore;
    if (instruction_.id == X86_INS_PUSH || instruction_.id == X86_INS_CALL)
      operand.access = MemoryAccess::kLoad;
    Add(operand);
  }
  void Unseen() { result_.unseen = true; }

  const cs_insn& instruction_;
  const cs_x86& x86_;
  const X86Instruction& decoded_;
  const std::span<const uint8_t> code_;
  MemoryOperands result_;
};
#endif

}  // namespace

#if defined(__x86_64__)
uint64_t RegisterOf(const Registers& registers, uint8_t number) {
  const user_regs_struct& raw = registers.raw;
  const unsigned long long all[] = {raw.rax, raw.rcx, raw.rdx, raw.rbx, raw.rsp, raw.rbp,
                                    raw.rsi, raw.rdi, raw.r8,  raw.r9,  raw.r10, raw.r11,
                                    raw.r12, raw.r13, raw.r14, raw.r15};
  return number < 16 ? all[number] : 0;
}

uint64_t MemoryOperand::AddressIn(const Registers& registers) const {
  uint64_t address = displacement;
  if (base != kNone) address += RegisterOf(registers, base);
  if (index != kNone) address += RegisterOf(registers, index) * scale;
  if (address32) address &= 0xffffffff;
  if (segment == Segment::kFs) address += registers.raw.fs_base;
  if (segment == Segment::kGs) address += registers.raw.gs_base;
  return address;
}

MemoryDecoder::MemoryDecoder() {
  csh handle = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) return;
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  handle_ = handle;
}

MemoryDecoder::~MemoryDecoder() {
  csh handle = handle_;
  if (handle != 0) cs_close(&handle);
}

MemoryOperands MemoryDecoder::Decode(std::span<const uint8_t> code, uint64_t address) const {
  const X86Instruction decoded = DecodeX86(code);
  if (decoded.length == 0) return {.unseen = true};
  cs_insn* instruction = nullptr;
  const size_t count =
      handle_ == 0 ? 0 : cs_disasm(handle_, code.data(), decoded.length, address, 1, &instruction);
  if (count == 0) return {.unseen = true};
  MemoryOperands found = {.unseen = instruction->size != decoded.length};
  if (!found.unseen) found = Finding(*instruction, decoded, code).Run();
  cs_free(instruction, count);
  return found;
}
#else
uint64_t RegisterOf(const Registers&, uint8_t) { return 0; }
uint64_t MemoryOperand::AddressIn(const Registers&) const { return 0; }
MemoryDecoder::MemoryDecoder() = default;
MemoryDecoder::~MemoryDecoder() = default;
MemoryOperands MemoryDecoder::Decode(std::span<const uint8_t>, uint64_t) const {
  return {.unseen = true};
}
#endif

}  // namespace jprof::itrace
