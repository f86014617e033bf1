// Hand-written frame programs for both processors, and damaged ones.
#include "jprof/unwind/unwind_table.h"

#include <gtest/gtest.h>
#include <link.h>

#include <random>

#include "jprof/unwind/modules.h"

namespace jprof::unwind {
namespace {

using From = FrameRule::From;
using Bytes = std::vector<uint8_t>;
using Step = Unwinder::Step;

constexpr uint64_t kCode = 0x1000, kCodeEnd = 0x9000;

void Append(Bytes& to, const Bytes& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

Bytes Word(uint32_t value) {
  Bytes bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(value >> shift));
  return bytes;
}

// An .eh_frame with one CIE; functions with absolute 4-byte addresses.
class EhFrame {
 public:
  EhFrame(const Machine& machine, const Bytes& initial, const char* letters = "zR")
      : machine_(machine) {
    Bytes body = {0, 0, 0, 0, 1};
    for (const char* letter = letters; *letter != 0; ++letter)
      body.push_back(static_cast<uint8_t>(*letter));
    const bool arm = machine.kernel_signal_frame;
    Append(body, {0, static_cast<uint8_t>(arm ? 4 : 1), 0x78,
                  static_cast<uint8_t>(machine.return_address), 1, kUdata4});
    Append(body, initial);
    AddEntry(body);
  }
  EhFrame& Function(uint32_t start, uint32_t size, const Bytes& program) {
    Bytes body = Word(static_cast<uint32_t>(bytes_.size()) + 4);
    Append(body, Word(start));
    Append(body, Word(size));
    body.push_back(0);
    Append(body, program);
    AddEntry(body);
    return *this;
  }
  UnwindTable Compile() const { return {FrameBytes(bytes_, 0), {kCode, kCodeEnd}, machine_}; }

 private:
  void AddEntry(const Bytes& body) {
    Append(bytes_, Word(static_cast<uint32_t>(body.size())));
    Append(bytes_, body);
  }
  const Machine& machine_;
  Bytes bytes_;
};

const Bytes kX86Initial = {0x0c, 7, 8, 0x90, 1};  // CFA = rsp + 8, ra at CFA - 8
const Bytes kAArch64Initial = {0x0c, 31, 0};      // CFA = sp

FrameRule At(const UnwindTable& table, uint64_t pc) {
  const UnwindTable::Row* row = table.Find(pc - kCode);
  return row == nullptr ? FrameRule() : table.RuleOf(*row);
}

FrameRule X86(From cfa, int32_t offset, From fp = From::kUnchanged, int32_t fp_offset = 0) {
  return {.cfa = cfa,
          .fp = fp,
          .ra = From::kCfa,
          .cfa_offset = offset,
          .fp_offset = fp_offset,
          .ra_offset = -8};
}

TEST(UnwindTable, PrologueAndEpilogue) {
  const auto table = EhFrame(kX86, kX86Initial)
                         .Function(0x1000, 0x20,
                                   {0x41, 0x0e, 16, 0x86, 2,  // push rbp
                                    0x43, 0x0d, 6,            // mov rsp, rbp
                                    0x4a, 0x0a, 0x0c, 7, 8,   // leave
                                    0x41, 0x0b})              // and another exit
                         .Compile();
  EXPECT_EQ(At(table, 0x1000), X86(From::kSp, 8));
  EXPECT_EQ(At(table, 0x1001), X86(From::kSp, 16, From::kCfa, -16));
  EXPECT_EQ(At(table, 0x1004), X86(From::kFp, 16, From::kCfa, -16));
  EXPECT_EQ(At(table, 0x100d), X86(From::kFp, 16, From::kCfa, -16));
  EXPECT_EQ(At(table, 0x100e), X86(From::kSp, 8, From::kCfa, -16));
  EXPECT_EQ(At(table, 0x100f), X86(From::kFp, 16, From::kCfa, -16));
  EXPECT_EQ(At(table, 0x101f), X86(From::kFp, 16, From::kCfa, -16));
  EXPECT_EQ(At(table, 0x1020), FrameRule());
}

TEST(UnwindTable, FunctionsAreSortedClippedAndFound) {
  const auto table = EhFrame(kX86, kX86Initial)
                         .Function(0x3000, 0x10, {0x44, 0x0e, 16})
                         .Function(0x1000, 0x30, {})
                         .Function(0x1010, 0x10, {0x0e, 32})
                         .Function(0x0500, 0x10, {})  // not this module's code
                         .Function(0x8ff0, 0x20, {})  // extends beyond it
                         .Compile();
  const auto start = [&](uint64_t pc) -> uint64_t {
    const UnwindTable::Row* row = table.Find(pc - kCode);
    const UnwindTable::Row* first = row == nullptr ? nullptr : table.FunctionOf(row);
    return first == nullptr ? 0 : first->pc + kCode;
  };
  EXPECT_EQ(start(0x1000), 0x1000u);
  EXPECT_EQ(start(0x100f), 0x1000u);
  EXPECT_EQ(start(0x1010), 0x1010u);
  EXPECT_EQ(At(table, 0x1010), X86(From::kSp, 32));
  EXPECT_EQ(start(0x1020), 0u);
  EXPECT_EQ(start(0x2fff), 0u);
  EXPECT_EQ(start(0x300f), 0x3000u);
  EXPECT_EQ(start(0x3010), 0u);
  EXPECT_EQ(start(0x8ff8), 0u);
}

TEST(UnwindTable, Expressions) {
  const auto table =
      EhFrame(kX86, kX86Initial)
          .Function(0x1000, 0x100,
                    {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})
          .Function(
              0x1100, 0x10,
              {0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 6})  // rbp at [rbp], CFA = *(rbp - 8)
          .Function(0x1200, 0x10, {0x0c, 10, 0})              // CFA = r10
          .Function(0x1300, 0x10, {0x07, 16})                 // no caller
          .Function(0x1400, 0x10, {0x0f, 2, 0x77, 0x10})      // CFA = rsp + 16
          .Function(0x1500, 0x10, {0x44, 0x3e, 0x44})         // no such instruction
          .Function(0x1600, 0x10, {0x09, 16, 0})              // return address in rax
          .Function(0x1700, 0x10, {0x05, 7, 3})               // rsp is saved
          .Compile();
  EXPECT_EQ(At(table, 0x1010), X86(From::kPlt, 11));
  EXPECT_EQ(At(table, 0x1100), X86(From::kAtFp, -8, From::kFp, 0));
  EXPECT_EQ(At(table, 0x1200), FrameRule());
  EXPECT_EQ(At(table, 0x1300), FrameRule{.ra = From::kUndefined});
  EXPECT_EQ(At(table, 0x1400), X86(From::kSp, 16));
  EXPECT_EQ(At(table, 0x1503), X86(From::kSp, 8));
  EXPECT_EQ(At(table, 0x1504), FrameRule());
  EXPECT_EQ(At(table, 0x1600), FrameRule());
  EXPECT_EQ(At(table, 0x1700), FrameRule());
}

// A stack of 16 words; kBad instead of a read outside.
class ApplyTest : public testing::Test {
 protected:
  uint64_t Address(size_t word) const { return reinterpret_cast<uint64_t>(&stack_[word]); }
  StackBounds Bounds() const { return {Address(0), Address(16)}; }
  uint64_t stack_[17] = {};
};

TEST_F(ApplyTest, X86Frame) {
  stack_[4] = Address(9);
  stack_[5] = 0x4242;
  Registers registers = {.pc = 0x1004, .sp = Address(2), .fp = Address(4)};
  const FrameRule rule = X86(From::kFp, 16, From::kCfa, -16);
  ASSERT_EQ(rule.Apply(registers, Bounds()), Step::kStepped);
  EXPECT_EQ(registers.pc, 0x4242u);
  EXPECT_EQ(registers.sp, Address(6));
  EXPECT_EQ(registers.fp, Address(9));
  const Registers before = registers;
  EXPECT_EQ(X86(From::kSp, 88).Apply(registers, Bounds()), Step::kBad);        // above the stack
  EXPECT_EQ(X86(From::kSp, 0).Apply(registers, Bounds()), Step::kBad);         // not upwards
  EXPECT_EQ(X86(From::kSp, 12).Apply(registers, Bounds()), Step::kBad);        // no word
  EXPECT_EQ(X86(From::kSp, 80).Apply(registers, Bounds()), Step::kOutermost);  // returns to 0
  EXPECT_EQ(FrameRule{.ra = From::kUndefined}.Apply(registers, Bounds()), Step::kOutermost);
  EXPECT_EQ(FrameRule().Apply(registers, Bounds()), Step::kUnknown);
  EXPECT_EQ(registers.pc, before.pc);
  registers.fp = ~uint64_t{0} - 7;
  EXPECT_EQ(rule.Apply(registers, Bounds()), Step::kBad);  // around the end of memory
}

TEST_F(ApplyTest, AArch64LeafThenFrame) {
  const auto table =
      EhFrame(kAArch64, kAArch64Initial)
          .Function(0x1000, 0x10, {})
          .Function(0x2000, 0x40,
                    {0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3,  // paciasp; stp x29, x30, [sp, -32]!
                     0x48, 0xdd, 0xde, 0x0e, 0, 0x2d})        // ldp; autiasp
          .Compile();
  stack_[2] = Address(9);
  stack_[3] = 0x4242;
  Registers registers = {.pc = 0x1004, .sp = Address(2), .fp = Address(2), .link = 0x2010};
  ASSERT_EQ(At(table, 0x1004).Apply(registers, Bounds()), Step::kStepped);
  EXPECT_EQ(registers.pc, 0x2010u);
  EXPECT_EQ(registers.sp, Address(2));
  ASSERT_EQ(At(table, 0x200f).Apply(registers, Bounds()), Step::kStepped);
  EXPECT_EQ(registers.pc, 0x4242u);
  EXPECT_EQ(registers.sp, Address(6));
  EXPECT_EQ(registers.fp, Address(9));
  // A caller's return address is on its stack; a rule to the contrary would cause an endless loop.
  EXPECT_EQ(At(table, 0x2000).Apply(registers, Bounds()), Step::kBad);
  EXPECT_EQ(At(table, 0x2024).Apply(registers, Bounds()), Step::kBad);
}

TEST(UnwindTable, AArch64SignalFrameIsTheKernels) {
  const auto table =
      EhFrame(kAArch64, kAArch64Initial, "zRS").Function(0x1000, 0x10, {0x0c, 29, 0}).Compile();
  const FrameRule rule = At(table, 0x1000);
  EXPECT_TRUE(rule.signal);
  EXPECT_EQ(rule.cfa, From::kAtSp);
#if defined(__aarch64__)
  struct Frame {
    siginfo_t info;
    ucontext_t context;
  } frame;
  const auto distance = [&](const auto& member) {
    return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&frame);
  };
  EXPECT_EQ(rule.cfa_offset, distance(frame.context.uc_mcontext.sp));
  EXPECT_EQ(rule.fp_offset, distance(frame.context.uc_mcontext.regs[29]));
  EXPECT_EQ(rule.ra_offset, distance(frame.context.uc_mcontext.pc));
#endif
}

// Rows ascend and functions are found, for any bytes.
void CheckOrder(const UnwindTable& table) {
  for (size_t i = 0; i < table.rows().size(); ++i) {
    const UnwindTable::Row& row = table.rows()[i];
    if (i > 0) {
      ASSERT_LT(table.rows()[i - 1].pc, row.pc);
    }
    ASSERT_EQ(table.Find(row.pc), &row);
    table.RuleOf(row);
    table.FunctionOf(&row);
  }
}

TEST(UnwindTable, DamagedBytes) {
#ifdef JPROF_SANITIZED_THREADS
  GTEST_SKIP() << "one thread only, and a minute with the thread sanitizer";
#endif
  ModuleCounts counts;
  Bytes original;
  CodeRange code;
  uint64_t address = 0;
  ForEachModule(counts, [&](const Module& module) {
    const auto bytes = module.eh_frame.rest();
    if (!original.empty() || bytes.empty()) return;
    original.assign(bytes.begin(),
                    bytes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes.size(), 8192)));
    code = module.span;
    address = module.eh_frame.address();
  });
  ASSERT_FALSE(original.empty());
  ASSERT_GT(UnwindTable(FrameBytes(original, address), code, kThisMachine).rows().size(), 50u);
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    Bytes bytes = original;
    bytes.resize(random() % 4 == 0 ? random() % bytes.size() : bytes.size());
    for (size_t i = 0; i <= random() % 32 && !bytes.empty(); ++i) {
      bytes[random() % std::min<size_t>(bytes.size(), 1024)] = static_cast<uint8_t>(random());
    }
    const UnwindTable table(FrameBytes(bytes, address), code, round % 2 == 0 ? kX86 : kAArch64);
    CheckOrder(table);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(FrameBytes, PointersAreRelativeToTheirOwnAddress) {
  const Bytes bytes = {0xe5, 0x8e, 0x26, 0x9b, 0xf1, 0x59, 0x7f,
                       'a',  'b',  0,    0xfc, 0xff, 0xff, 0xff};
  FrameBytes in(bytes, 0x100);
  EXPECT_EQ(in.ReadUleb(), 624485u);
  EXPECT_EQ(in.ReadSleb(), -624485);
  EXPECT_EQ(in.ReadSleb(), -1);
  EXPECT_EQ(in.ReadText(), "ab");
  EXPECT_EQ(in.ReadPointer(kSdata4 | kPcRelative), 0x100u + 10 - 4);
  EXPECT_TRUE(in.ok() && in.empty());
  EXPECT_EQ(in.Read<uint32_t>(), 0u);
  EXPECT_FALSE(in.ok());
}

}  // namespace
}  // namespace jprof::unwind
