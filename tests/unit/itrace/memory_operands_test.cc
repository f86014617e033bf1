#include "itrace/memory_operands.h"

#include <gtest/gtest.h>

namespace jprof::itrace {
namespace {

#if defined(__x86_64__)

using profile::MemoryAccess;

constexpr uint64_t kDecodedAt = 0x401000;

// Registers with different values: rax 0x1000, rcx 0x2000 ... r15 0x10000, fs 0x7000000.
Registers KnownRegisters() {
  Registers registers;
  user_regs_struct& raw = registers.raw;
  raw.rax = 0x1000, raw.rcx = 0x2000, raw.rdx = 0x3000, raw.rbx = 0x4000;
  raw.rsp = 0x5000, raw.rbp = 0x6000, raw.rsi = 0x7000, raw.rdi = 0x8000;
  raw.r8 = 0x9000, raw.r9 = 0xa000, raw.r10 = 0xb000, raw.r11 = 0xc000;
  raw.r12 = 0xd000, raw.r13 = 0xe000, raw.r14 = 0xf000, raw.r15 = 0x10000;
  raw.fs_base = 0x7000000, raw.gs_base = 0x8000000;
  return registers;
}

struct Expected {
  uint64_t address;
  uint32_t bytes;
  MemoryAccess access;
  bool operator==(const Expected&) const = default;
};

std::vector<Expected> Found(const std::vector<uint8_t>& code, bool* unseen = nullptr) {
  const MemoryDecoder decoder;
  const MemoryOperands operands = decoder.Decode(code, kDecodedAt);
  if (unseen != nullptr) *unseen = operands.unseen;
  std::vector<Expected> found;
  for (const MemoryOperand& operand : operands.found())
    found.push_back({operand.AddressIn(KnownRegisters()), operand.bytes, operand.access});
  return found;
}
std::vector<Expected> Load(uint64_t address, uint32_t bytes) {
  return {{address, bytes, MemoryAccess::kLoad}};
}
std::vector<Expected> Store(uint64_t address, uint32_t bytes) {
  return {{address, bytes, MemoryAccess::kStore}};
}
std::vector<Expected> Modify(uint64_t address, uint32_t bytes) {
  return {{address, bytes, MemoryAccess::kModify}};
}

TEST(MemoryOperands, Addresses) {
  EXPECT_EQ(Found({0x48, 0x8b, 0x00}), Load(0x1000, 8));                          // [rax]
  EXPECT_EQ(Found({0x8b, 0x44, 0x8b, 0xf8}), Load(0x4000 + 4 * 0x2000 - 8, 4));   // [rbx+rcx*4-8]
  EXPECT_EQ(Found({0x43, 0x8a, 0x04, 0x3c}), Load(0xd000 + 0x10000, 1));          // [r12+r15]
  EXPECT_EQ(Found({0x8b, 0x05, 0x10, 0, 0, 0}), Load(kDecodedAt + 6 + 0x10, 4));  // [rip+16]
  EXPECT_EQ(Found({0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}), Load(0x7000028, 8));
  EXPECT_EQ(Found({0x65, 0x8b, 0x00}), Load(0x8001000, 4));  // gs:[rax]
  EXPECT_EQ(Found({0x8b, 0x04, 0x25, 0, 0, 0, 0xff}), Load(0xffffffffff000000, 4));
  EXPECT_EQ(Found({0x67, 0x8b, 0x40, 0xfc}), Load(0xffc, 4));                       // [eax-4]
  EXPECT_EQ(Found({0x8b, 0x04, 0x8d, 0x40, 0, 0, 0}), Load(4 * 0x2000 + 0x40, 4));  // [rcx*4+64]
  EXPECT_EQ(Found({0xa1, 1, 2, 3, 4, 5, 6, 7, 0}), Load(0x0007060504030201, 4));  // mov eax, moffs
  // With EVEX, a displacement of 8 bits counts in units of the operand's size.
  EXPECT_EQ(Found({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x44, 0x24, 0x02}), Load(0x5000 + 0x80, 64));
}

TEST(MemoryOperands, LoadsAndStores) {
  EXPECT_EQ(Found({0x48, 0x89, 0x07}), Store(0x8000, 8));         // mov [rdi], rax
  EXPECT_EQ(Found({0xc6, 0x07, 1}), Store(0x8000, 1));            // mov byte [rdi], 1
  EXPECT_EQ(Found({0x01, 0x07}), Modify(0x8000, 4));              // add [rdi], eax
  EXPECT_EQ(Found({0x03, 0x07}), Load(0x8000, 4));                // add eax, [rdi]
  EXPECT_EQ(Found({0x39, 0x07}), Load(0x8000, 4));                // cmp [rdi], eax
  EXPECT_EQ(Found({0x83, 0x3f, 5}), Load(0x8000, 4));             // cmp [rdi], 5
  EXPECT_EQ(Found({0x83, 0x07, 5}), Modify(0x8000, 4));           // add [rdi], 5
  EXPECT_EQ(Found({0xf7, 0x07, 1, 0, 0, 0}), Load(0x8000, 4));    // test [rdi], 1
  EXPECT_EQ(Found({0x85, 0x07}), Load(0x8000, 4));                // test [rdi], eax
  EXPECT_EQ(Found({0xff, 0x07}), Modify(0x8000, 4));              // inc [rdi]
  EXPECT_EQ(Found({0xf7, 0x17}), Modify(0x8000, 4));              // not [rdi]
  EXPECT_EQ(Found({0xd1, 0x27}), Modify(0x8000, 4));              // shl [rdi]
  EXPECT_EQ(Found({0x87, 0x07}), Modify(0x8000, 4));              // xchg
  EXPECT_EQ(Found({0xf0, 0x0f, 0xb1, 0x0f}), Modify(0x8000, 4));  // lock cmpxchg
  EXPECT_EQ(Found({0xf0, 0x0f, 0xc1, 0x07}), Modify(0x8000, 4));  // lock xadd
  EXPECT_EQ(Found({0x0f, 0xb6, 0x07}), Load(0x8000, 1));          // movzx
  EXPECT_EQ(Found({0x0f, 0x94, 0x07}), Store(0x8000, 1));         // sete
  EXPECT_EQ(Found({0x0f, 0xba, 0x27, 3}), Load(0x8000, 4));       // bt
  EXPECT_EQ(Found({0x0f, 0xba, 0x2f, 3}), Modify(0x8000, 4));     // bts
  EXPECT_EQ(Found({0xf2, 0x0f, 0x10, 0x07}), Load(0x8000, 8));    // movsd xmm0, [rdi]
  EXPECT_EQ(Found({0xf2, 0x0f, 0x11, 0x07}), Store(0x8000, 8));   // movsd [rdi], xmm0
  EXPECT_EQ(Found({0x0f, 0x29, 0x07}), Store(0x8000, 16));        // movaps [rdi], xmm0
  EXPECT_EQ(Found({0xf3, 0x0f, 0x7f, 0x07}), Store(0x8000, 16));  // movdqu [rdi], xmm0
  EXPECT_EQ(Found({0xc5, 0xfe, 0x7f, 0x07}), Store(0x8000, 32));  // vmovdqu [rdi], ymm0
  EXPECT_EQ(Found({0xc5, 0xfe, 0x6f, 0x07}), Load(0x8000, 32));   // vmovdqu ymm0, [rdi]
  EXPECT_EQ(Found({0x0f, 0xc3, 0x07}), Store(0x8000, 4));         // movnti
  EXPECT_EQ(Found({0x0f, 0x17, 0x07}), Store(0x8000, 8));         // movhps [rdi], xmm0
  EXPECT_EQ(Found({0x66, 0x0f, 0xd6, 0x07}), Store(0x8000, 8));   // movq [rdi], xmm0
  EXPECT_EQ(Found({0xdd, 0x07}), Load(0x8000, 8));                // fld
  EXPECT_EQ(Found({0xdd, 0x1f}), Store(0x8000, 8));               // fstp
  EXPECT_EQ(Found({0xdb, 0x3f}), Store(0x8000, 10));              // fstp tbyte
  EXPECT_EQ(Found({0xd9, 0x3f}), Store(0x8000, 2));               // fnstcw
  EXPECT_EQ(Found({0x0f, 0xae, 0x1f}), Store(0x8000, 4));         // stmxcsr
  EXPECT_EQ(Found({0x0f, 0xae, 0x17}), Load(0x8000, 4));          // ldmxcsr
}

TEST(MemoryOperands, WithoutOperands) {
  EXPECT_EQ(Found({0x50}), Store(0x4ff8, 8));              // push rax
  EXPECT_EQ(Found({0x66, 0x50}), Store(0x4ffe, 2));        // push ax
  EXPECT_EQ(Found({0x6a, 1}), Store(0x4ff8, 8));           // push 1
  EXPECT_EQ(Found({0x9c}), Store(0x4ff8, 8));              // pushf
  EXPECT_EQ(Found({0x41, 0x5f}), Load(0x5000, 8));         // pop r15
  EXPECT_EQ(Found({0x9d}), Load(0x5000, 8));               // popf
  EXPECT_EQ(Found({0xc9}), Load(0x6000, 8));               // leave
  EXPECT_EQ(Found({0xe8, 0, 0, 0, 0}), Store(0x4ff8, 8));  // call
  EXPECT_EQ(Found({0xff, 0xd0}), Store(0x4ff8, 8));        // call rax
  EXPECT_EQ(Found({0xc3}), Load(0x5000, 8));               // ret
  EXPECT_EQ(Found({0xf3, 0xc3}), Load(0x5000, 8));         // rep ret
  EXPECT_EQ(Found({0xc2, 8, 0}), Load(0x5000, 8));         // ret 8
  const std::vector<Expected> push = {{0x8000, 8, MemoryAccess::kLoad},
                                      {0x4ff8, 8, MemoryAccess::kStore}};
  EXPECT_EQ(Found({0xff, 0x37}), push);  // push [rdi]
  EXPECT_EQ(Found({0xff, 0x17}), push);  // call [rdi]
  const std::vector<Expected> pop = {{0x5000, 8, MemoryAccess::kLoad},
                                     {0x5008, 8, MemoryAccess::kStore}};
  EXPECT_EQ(Found({0x8f, 0x04, 0x24}), pop);        // pop [rsp]
  EXPECT_EQ(Found({0xff, 0x27}), Load(0x8000, 8));  // jmp [rdi]
  const std::vector<Expected> movs = {{0x7000, 4, MemoryAccess::kLoad},
                                      {0x8000, 4, MemoryAccess::kStore}};
  EXPECT_EQ(Found({0xa5}), movs);
  EXPECT_EQ(Found({0xf3, 0xa5}), movs);
  EXPECT_EQ(Found({0xf3, 0x48, 0xab}), Store(0x8000, 8));  // rep stosq
  EXPECT_EQ(Found({0xac}), Load(0x7000, 1));               // lodsb
  EXPECT_EQ(Found({0xf2, 0xae}), Load(0x8000, 1));         // repne scasb
  const std::vector<Expected> cmps = {{0x7000, 2, MemoryAccess::kLoad},
                                      {0x8000, 2, MemoryAccess::kLoad}};
  EXPECT_EQ(Found({0x66, 0xa7}), cmps);
}

TEST(MemoryOperands, Nothing) {
  for (const std::vector<uint8_t>& code :
       std::vector<std::vector<uint8_t>>{{0x48, 0x8d, 0x07},        // lea rax, [rdi]
                                         {0x0f, 0x1f, 0x40, 0},     // nop [rax]
                                         {0x0f, 0x18, 0x0f},        // prefetcht0 [rdi]
                                         {0x0f, 0x0d, 0x0f},        // prefetchw [rdi]
                                         {0xf3, 0x0f, 0x1e, 0xfa},  // endbr64
                                         {0x48, 0x01, 0xc8},        // add rax, rcx
                                         {0xeb, 0x00},
                                         {0x74, 0x00},           // jmp, je
                                         {0x0f, 0xae, 0xf0},     // mfence
                                         {0x0f, 0xae, 0x3f}}) {  // clflush [rdi]
    bool unseen = true;
    EXPECT_EQ(Found(code, &unseen), std::vector<Expected>()) << int(code[0]);
    EXPECT_FALSE(unseen) << int(code[0]);
  }
}

TEST(MemoryOperands, Unseen) {
  for (const std::vector<uint8_t>& code : std::vector<std::vector<uint8_t>>{
           {0xd7},                                   // xlat
           {0xc4, 0xe2, 0x69, 0x90, 0x04, 0x8f}}) {  // vpgatherdd xmm0, [rdi+xmm1*4], xmm2
    bool unseen = false;
    EXPECT_EQ(Found(code, &unseen), std::vector<Expected>());
    EXPECT_TRUE(unseen);
  }
}

#endif

}  // namespace
}  // namespace jprof::itrace
