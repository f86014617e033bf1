#include "itrace/x86_decoder.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace jprof::itrace {
namespace {

using Kind = X86Kind;

struct Known {
  const char* text;
  std::vector<uint8_t> code;
  Kind kind;
  bool rip_relative = false;
  int64_t relative = 0;
};

const Known kKnown[] = {
    {"nop", {0x90}, Kind::kPlain},
    {"mov rax, 0x1122334455667788",
     {0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11},
     Kind::kPlain},
    {"mov ax, 0x1122", {0x66, 0xb8, 0x22, 0x11}, Kind::kPlain},
    {"movabs al, [8 bytes]", {0xa0, 1, 2, 3, 4, 5, 6, 7, 8}, Kind::kPlain},
    {"lea rdi, [rip + 16]", {0x48, 0x8d, 0x3d, 16, 0, 0, 0}, Kind::kPlain, true},
    {"lea eax, [eip + 16]", {0x67, 0x8d, 0x05, 16, 0, 0, 0}, Kind::kStepped, true},
    {"test byte [rip + 1], 2", {0xf6, 0x05, 1, 0, 0, 0, 2}, Kind::kPlain, true},
    {"not byte [rip + 1]", {0xf6, 0x15, 1, 0, 0, 0}, Kind::kPlain, true},
    {"mov dword [rsp + rax * 4 + 8], 1", {0xc7, 0x44, 0x84, 8, 1, 0, 0, 0}, Kind::kPlain},
    {"enter 16, 0", {0xc8, 16, 0, 0}, Kind::kPlain},
    {"rep movsb", {0xf3, 0xa4}, Kind::kRepeated},
    {"repne scasq", {0xf2, 0x48, 0xaf}, Kind::kRepeated},
    {"movsb", {0xa4}, Kind::kPlain},
    {"rep movsb by ecx", {0x67, 0xf3, 0xa4}, Kind::kStepped},
    {"jmp rel8", {0xeb, 0xfe}, Kind::kJump, false, -2},
    {"jmp rel32", {0xe9, 0, 1, 0, 0}, Kind::kJump, false, 256},
    {"jmp rel32 with 16 bits", {0x66, 0xe9, 0, 1, 0, 0}, Kind::kUnknown},
    {"je rel8", {0x74, 5}, Kind::kConditional, false, 5},
    {"jle rel32", {0x0f, 0x8e, 0xf0, 0xff, 0xff, 0xff}, Kind::kConditional, false, -16},
    {"bnd jne rel8", {0xf2, 0x75, 5}, Kind::kConditional, false, 5},
    {"jrcxz", {0xe3, 7}, Kind::kCounted, false, 7},
    {"jecxz", {0x67, 0xe3, 7}, Kind::kCounted, false, 7},
    {"loop", {0xe2, 0xfc}, Kind::kCounted, false, -4},
    {"call rel32", {0xe8, 1, 0, 0, 0}, Kind::kCall, false, 1},
    {"data16 rex.w call rel32", {0x66, 0x66, 0x48, 0xe8, 1, 0, 0, 0}, Kind::kCall, false, 1},
    {"call [rip + 8]", {0xff, 0x15, 8, 0, 0, 0}, Kind::kIndirectCall, true},
    {"call r11", {0x41, 0xff, 0xd3}, Kind::kIndirectCall},
    {"notrack jmp rax", {0x3e, 0xff, 0xe0}, Kind::kIndirectJump},
    {"jmp [rax + rcx * 8]", {0xff, 0x24, 0xc8}, Kind::kIndirectJump},
    {"far call", {0xff, 0x18}, Kind::kStepped},
    {"push [rax]", {0xff, 0x30}, Kind::kPlain},
    {"ret", {0xc3}, Kind::kReturn},
    {"rep ret", {0xf3, 0xc3}, Kind::kReturn},
    {"ret 16", {0xc2, 16, 0}, Kind::kReturn},
    {"far ret", {0xcb}, Kind::kStepped},
    {"syscall", {0x0f, 0x05}, Kind::kSystemCall},
    {"int 0x80", {0xcd, 0x80}, Kind::kStepped},
    {"int3", {0xcc}, Kind::kStepped},
    {"xbegin", {0xc7, 0xf8, 0, 0, 0, 0}, Kind::kStepped},
    {"ud2", {0x0f, 0x0b}, Kind::kPlain},
    {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, Kind::kPlain},
    {"pshufb xmm0, [rip]", {0x66, 0x0f, 0x38, 0x00, 0x05, 0, 0, 0, 0}, Kind::kPlain, true},
    {"palignr xmm0, xmm1, 3", {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 3}, Kind::kPlain},
    {"vzeroupper", {0xc5, 0xf8, 0x77}, Kind::kPlain},
    {"vpxor ymm0, ymm0, [rip]", {0xc5, 0xfd, 0xef, 0x05, 0, 0, 0, 0}, Kind::kPlain, true},
    {"vpermq ymm0, ymm1, 4", {0xc4, 0xe3, 0xfd, 0x00, 0xc1, 4}, Kind::kPlain},
    {"vmovdqu64 zmm0, [rip]", {0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x05, 0, 0, 0, 0}, Kind::kPlain, true},
    {"vpternlogd zmm0, zmm1, zmm2, 0xff", {0x62, 0xf3, 0x75, 0x48, 0x25, 0xc2, 0xff}, Kind::kPlain},
    {"push es: not in 64-bit mode", {0x06}, Kind::kUnknown},
};

TEST(X86DecoderTest, KnowsLengthsAndKinds) {
  for (const Known& known : kKnown) {
    std::vector<uint8_t> code = known.code;
    code.resize(kLongestX86, 0x90);
    const X86Instruction decoded = DecodeX86(code);
    EXPECT_EQ(decoded.kind, known.kind) << known.text;
    if (known.kind == Kind::kUnknown) continue;
    EXPECT_EQ(decoded.length, known.code.size()) << known.text;
    EXPECT_EQ(decoded.rip_relative, known.rip_relative) << known.text;
    EXPECT_EQ(decoded.relative, known.relative) << known.text;
  }
}

TEST(X86DecoderTest, AnInstructionThatIsCutOffIsUnknown) {
  for (const Known& known : kKnown) {
    if (known.kind == Kind::kUnknown) continue;
    for (size_t size = 0; size < known.code.size(); ++size) {
      const X86Instruction decoded = DecodeX86(std::span(known.code).first(size));
      EXPECT_EQ(decoded.length, 0) << known.text << ", " << size;
    }
  }
}

TEST(X86DecoderTest, ReadsNothingBeyondTheBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 200'000; ++round) {
    std::vector<uint8_t> code(random() % 17);
    for (uint8_t& byte : code) byte = static_cast<uint8_t>(random());
    const X86Instruction decoded = DecodeX86(code);
    EXPECT_LE(decoded.length, code.size());
    EXPECT_EQ(decoded.length == 0, decoded.kind == Kind::kUnknown);
  }
}

}  // namespace
}  // namespace jprof::itrace
