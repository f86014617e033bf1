// The pure parts of a stack walk: numbers and scopes of debug information from bytes, and the frame
// state derived from machine code. Whole walks are tested in running JVMs:
// tests/e2e/stack_walk_test.py.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <random>
#include <vector>

#include "jprof/hotspot/vm/frame_code.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/nmethod.h"

namespace jprof::hotspot {
namespace {

// The slow, obvious writer: digits of base 64, the last one below 192 (191 if no byte may be 0).
void Write(std::vector<uint8_t>* bytes, uint32_t value, Coding coding) {
  const uint32_t excluded = coding == Coding::kNoZeros ? 1 : 0, low = 192 - excluded;
  uint64_t rest = value;
  for (int digit = 0; digit < 4 && rest >= low; ++digit) {
    rest -= low;
    bytes->push_back(static_cast<uint8_t>(192 + rest % 64));
    rest /= 64;
  }
  bytes->push_back(static_cast<uint8_t>(rest + excluded));
}

MemoryReader by_kernel(nullptr);

bool Read(const std::vector<uint8_t>& bytes, uint32_t offset, Coding coding, Scope* scope) {
  return ReadScope(by_kernel, reinterpret_cast<uint64_t>(bytes.data()), bytes.size(), offset,
                   coding, scope);
}

class BothCodings : public testing::TestWithParam<Coding> {};
INSTANTIATE_TEST_SUITE_P(Coding, BothCodings, testing::Values(Coding::kAllBytes, Coding::kNoZeros));

TEST_P(BothCodings, ReadsWhatWasWritten) {
  std::vector<uint32_t> values = {0,      1,      190,     191,       192,       193,
                                  0x307e, 0x307f, 0xc207e, 0x308207f, 0xffffffff};
  std::mt19937 random(7);
  for (int i = 0; i < 10'000; ++i)
    values.push_back(static_cast<uint32_t>(random()) >> random() % 32);
  std::vector<uint8_t> bytes;
  for (const uint32_t value : values) Write(&bytes, value, GetParam());
  CompressedReader reader(bytes.data(), bytes.data() + bytes.size(), GetParam());
  for (const uint32_t value : values) {
    uint32_t read;
    ASSERT_TRUE(reader.Read(&read));
    ASSERT_EQ(read, value);
  }
  uint32_t none;
  EXPECT_FALSE(reader.Read(&none));
}

TEST(CompressedReader, KnownBytes) {
  const uint8_t bytes[] = {0x05, 0xc0, 0x01};
  uint32_t value;
  CompressedReader old(bytes, bytes + 3, Coding::kAllBytes);
  ASSERT_TRUE(old.Read(&value));
  EXPECT_EQ(value, 5u);
  ASSERT_TRUE(old.Read(&value));
  EXPECT_EQ(value, 192u + 64);
  CompressedReader now(bytes, bytes + 3, Coding::kNoZeros);
  ASSERT_TRUE(now.Read(&value));
  EXPECT_EQ(value, 4u);
  ASSERT_TRUE(now.Read(&value));
  EXPECT_EQ(value, 191u);
}

TEST(CompressedReader, StopsAtTheEndAndAtZeros) {
  const uint8_t cut[] = {0xff, 0xff}, zero[] = {0x00};
  uint32_t value;
  EXPECT_FALSE(CompressedReader(cut, cut + 2, Coding::kAllBytes).Read(&value));
  EXPECT_FALSE(CompressedReader(zero, zero + 1, Coding::kNoZeros).Read(&value));
  EXPECT_TRUE(CompressedReader(zero, zero + 1, Coding::kAllBytes).Read(&value));
}

TEST_P(BothCodings, ChainOfInlinedScopes) {
  std::vector<uint8_t> bytes = {0xff};  // offset 0 means none
  const auto scope = [&](uint32_t sender, uint32_t method, int32_t bci) {
    const auto at = static_cast<uint32_t>(bytes.size());
    for (const uint32_t value : {sender, method, static_cast<uint32_t>(bci + 1), 0u, 0u, 0u}) {
      Write(&bytes, value, GetParam());
    }
    return at;
  };
  const uint32_t outer = scope(0, 1, 700), inner = scope(outer, 300, -1);
  Scope read;
  ASSERT_TRUE(Read(bytes, inner, GetParam(), &read));
  EXPECT_EQ(read.sender, outer);
  EXPECT_EQ(read.method, 300u);
  EXPECT_EQ(read.bci, -1);
  ASSERT_TRUE(Read(bytes, read.sender, GetParam(), &read));
  EXPECT_EQ(read.sender, 0u);
  EXPECT_EQ(read.bci, 700);
  EXPECT_FALSE(Read(bytes, 0, GetParam(), &read));
  EXPECT_FALSE(Read(bytes, static_cast<uint32_t>(bytes.size()), GetParam(), &read));
  const uint32_t loop = scope(5000, 1, 1);  // a sender at a higher offset could form a loop
  EXPECT_FALSE(Read(bytes, loop, GetParam(), &read));
}

TEST_P(BothCodings, RandomBytesEndEveryChain) {
  std::mt19937 random(11);
  std::vector<uint8_t> bytes(4096);
  for (int round = 0; round < 200; ++round) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    auto at = static_cast<uint32_t>(random() % bytes.size());
    Scope scope;
    int steps = 0;
    while (Read(bytes, at, GetParam(), &scope) && scope.sender != 0) {
      ASSERT_LT(scope.sender, at);
      at = scope.sender;
      ASSERT_LT(++steps, 4096);
    }
  }
}

TEST(PcDesc, FirstAtOrAfter) {
  const PcDesc descs[] = {{-1, 3, 0, 0}, {10, 5, 0, 0}, {20, 9, 0, 0}, {1000, 0, 0, 0}};
  const auto at = [&](int64_t offset) {
    return FindScope(by_kernel, reinterpret_cast<uint64_t>(descs), 4, offset);
  };
  EXPECT_EQ(at(-1), 3u);
  EXPECT_EQ(at(10), 5u);
  EXPECT_EQ(at(11), 9u);
  EXPECT_EQ(at(20), 9u);
  EXPECT_EQ(at(21), 0u);
  EXPECT_EQ(at(1001), 0u);
  EXPECT_EQ(FindScope(by_kernel, reinterpret_cast<uint64_t>(descs), 0, 10), 0u);
}

#if defined(__x86_64__)

constexpr CallerPlace kNoFrame = {0, -1, 1}, kPushed = {1, 0, 2};

// The location of the caller at the given offset.
CallerPlace Place(const std::vector<uint8_t>& code, uint32_t pc, int64_t complete, int32_t words) {
  return CallerInCompiled(code.data(), static_cast<uint32_t>(code.size()), pc, complete, words);
}

TEST(CallerInCompiled, FrameByPush) {
  // mov [rsp-0x14000], eax; push rbp; sub rsp, 0x20; nop; add rsp, 0x20; pop rbp; cmp rsp, [r15+8];
  // ja; ret
  const std::vector<uint8_t> code = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83,
                                     0xec, 0x20, 0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b,
                                     0x67, 0x08, 0x0f, 0x87, 0,    0,    0,    0,    0xc3};
  EXPECT_EQ(Place(code, 0, 12, 6), kNoFrame);
  EXPECT_EQ(Place(code, 7, 12, 6), kNoFrame);
  EXPECT_EQ(Place(code, 8, 12, 6), kPushed);
  EXPECT_EQ(Place(code, 12, 12, 6), CallerOfCompleteFrame(6));
  EXPECT_EQ(Place(code, 13, 12, 6), CallerOfCompleteFrame(6));
  EXPECT_EQ(Place(code, 17, 12, 6), kPushed);
  for (const uint32_t gone : {18u, 22u, 28u}) EXPECT_EQ(Place(code, gone, 12, 6), kNoFrame) << gone;
}

TEST(CallerInCompiled, FrameAtOnce) {
  // sub rsp, 0x118; mov [rsp+0x110], rbp; nop
  const std::vector<uint8_t> code = {0x48, 0x81, 0xec, 0x18, 0x01, 0, 0, 0x48,
                                     0x89, 0xac, 0x24, 0x10, 0x01, 0, 0, 0x90};
  EXPECT_EQ(Place(code, 0, 15, 36), kNoFrame);
  EXPECT_EQ(Place(code, 7, 15, 36), (CallerPlace{35, -1, 36}));
  EXPECT_EQ(Place(code, 15, 15, 36), CallerOfCompleteFrame(36));
}

TEST(CallerInCompiled, PollAtReturnTakenSlowly) {
  // nop; lea r10, [rip+0]; mov [r15+0x300], r10; jmp
  const std::vector<uint8_t> code = {0x90, 0x4c, 0x8d, 0x15, 0, 0,    0, 0, 0x4d, 0x89,
                                     0x97, 0,    3,    0,    0, 0xe9, 0, 0, 0,    0};
  EXPECT_EQ(Place(code, 0, 0, 6), CallerOfCompleteFrame(6));
  for (const uint32_t gone : {1u, 8u, 15u}) EXPECT_EQ(Place(code, gone, 0, 6), kNoFrame) << gone;
}

TEST(CallerInCompiled, NeverAFrame) { EXPECT_EQ(Place({0x90, 0xff, 0xe3}, 1, 3, 4), kNoFrame); }

TEST(AfterCall, FormsOfCalls) {
  const auto after = [](std::vector<uint8_t> code, uint64_t* target) {
    const uint8_t* end = code.data() + code.size();
    return AfterCall(code.data(), end, reinterpret_cast<uint64_t>(end), target);
  };
  uint64_t target;
  EXPECT_TRUE(after({0x90, 0xe8, 0, 0, 0, 0}, &target));
  EXPECT_NE(target, 0u);
  EXPECT_TRUE(after({0x49, 0xba, 0x11, 0x22, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xd2}, &target));
  EXPECT_EQ(target, 0x2211u);
  EXPECT_TRUE(after({0x90, 0x90, 0xff, 0xd0}, &target));
  EXPECT_EQ(target, 0u);
  EXPECT_FALSE(after({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, &target));
  EXPECT_FALSE(after({}, &target));
}

TEST(Interpreter, FrameMadeAndRemoved) {
  const std::vector<uint8_t> entry = {0x58, 0x50, 0x55, 0x48, 0x8b, 0xec, 0x41, 0x55};
  EXPECT_EQ(FramePointerSet(entry.data(), static_cast<uint32_t>(entry.size())), 6);
  EXPECT_EQ(FramePointerSet(entry.data(), 5), -1);
  // nop; leave; pop r13; mov rsp, rbx; jmp r13; nop
  const std::vector<uint8_t> exit = {0x90, 0xc9, 0x41, 0x5d, 0x48, 0x8b,
                                     0xe3, 0x41, 0xff, 0xe5, 0x90};
  const auto removed = [&](int at) {
    return FrameRemoved(exit.data(), exit.data() + at, exit.data() + exit.size());
  };
  EXPECT_EQ(removed(0), 0);
  EXPECT_EQ(removed(1), 0);
  EXPECT_EQ(removed(2), 1);
  EXPECT_EQ(removed(4), 2);
  EXPECT_EQ(removed(7), 2);
  EXPECT_EQ(removed(10), 0);
}

TEST(Interpreter, FrameRemovedWithAMoveBetween) {
  // leave; mov byte [r15+0x3be], 0; pop r13; mov rsp, rbx; jmp r13
  const std::vector<uint8_t> exit = {0xc9, 0x41, 0xc6, 0x87, 0xbe, 0x03, 0,    0,   0,
                                     0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5};
  const auto removed = [&](int at) {
    return FrameRemoved(exit.data(), exit.data() + at, exit.data() + exit.size());
  };
  EXPECT_EQ(removed(0), 0);
  EXPECT_EQ(removed(1), 1);
  EXPECT_EQ(removed(9), 1);
  EXPECT_EQ(removed(11), 2);
  EXPECT_EQ(removed(14), 2);
}

TEST(Adapter, SavesItsSpWhileItCallsTheVm) {
  // nop; mov r13, rsp; fxsave [rsp]; call; vzeroupper; fxrstor [rsp]; add rsp, 2688;
  // mov r15, [rsp]; mov rsp, r13; pop rax; mov r13, rsp; nop
  const std::vector<uint8_t> code = {
      0x90, 0x4c, 0x8b, 0xec, 0x48, 0x0f, 0xae, 0x04, 0x24, 0xe8, 0,    0,    0,    0,
      0xc5, 0xf8, 0x77, 0x48, 0x0f, 0xae, 0x0c, 0x24, 0x48, 0x81, 0xc4, 0x80, 0x0a, 0,
      0,    0x4c, 0x8b, 0x3c, 0x24, 0x49, 0x8b, 0xe5, 0x58, 0x4c, 0x8b, 0xec, 0x90};
  const auto calls = [&](int at) { return AdapterCallsVm(code.data(), code.data() + at); };
  const auto saved = [&](int at) {
    return AdapterSaved(code.data() + at, code.data() + code.size());
  };
  EXPECT_FALSE(calls(0));
  EXPECT_FALSE(calls(1));
  EXPECT_TRUE(calls(4));
  EXPECT_TRUE(calls(14));
  EXPECT_TRUE(calls(33));
  EXPECT_FALSE(calls(36));
  EXPECT_FALSE(calls(40));
  EXPECT_EQ(saved(14), 2688 / 8 + 2);
  EXPECT_EQ(saved(17), 2688 / 8 + 2);
  EXPECT_EQ(saved(22), -1);
  EXPECT_EQ(saved(36), -1);
}

TEST(WordsPopped, CountsPops) {
  const std::vector<uint8_t> code = {0x59, 0x41, 0x58, 0x85, 0xc9};
  EXPECT_EQ(WordsPopped(code.data(), code.data() + code.size()), 2);
  EXPECT_EQ(WordsPopped(code.data() + 3, code.data() + code.size()), 0);
}

#endif

}  // namespace
}  // namespace jprof::hotspot
