#include "jprof/hotspot/vm/code_patch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace jprof::hotspot {
namespace {

using Answer = int (*)();

// Code at the beginning of a mapping of two pages: functions that return 1 and 2, one that ends by
// a jump to the first, and one that calls the first and adds 10.
#if defined(__x86_64__)
constexpr uint64_t kOne = 0, kTwo = 16, kTail = 32, kCaller = 48, kRoom = 64;
constexpr unsigned char kCode[] = {
    0xb8, 1,    0,    0,    0,    0xc3, 0x90, 0x90,
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,  // mov eax,1; ret
    0xb8, 2,    0,    0,    0,    0xc3, 0x90, 0x90,
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,  // mov eax,2; ret
    0xe9, 0xdb, 0xff, 0xff, 0xff, 0x90, 0x90, 0x90,
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,  // jmp one
    0x50, 0xe8, 0xca, 0xff, 0xff, 0xff, 0x83, 0xc0,
    0x0a, 0x59, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90,  // call one; +10
};
constexpr uint64_t kCallSite = kCaller + 1, kTooFar = 1ull << 31;
#else
constexpr uint64_t kOne = 0, kTwo = 16, kTail = 32, kCaller = 48, kRoom = 80;
constexpr uint32_t kCode[] = {
    0x52800020, 0xd65f03c0, 0,          0,  // mov w0,1; ret
    0x52800040, 0xd65f03c0, 0,          0,  // mov w0,2; ret
    0x17fffff8, 0,          0,          0,  // b one
    0xa9bf7bfd, 0x97fffff3, 0x11002800, 0xa8c17bfd,
    0xd65f03c0,  // stp; bl one; add w0,w0,10; ldp; ret
};
constexpr uint64_t kCallSite = kCaller + 4, kTooFar = 1ull << 27;
#endif

class CodePatchTest : public testing::Test {
 protected:
  CodePatchTest() {
    void* mapped =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(mapped, kCode, sizeof kCode);
    __builtin___clear_cache(static_cast<char*>(mapped), static_cast<char*>(mapped) + kBytes);
    mprotect(mapped, kBytes, PROT_READ | PROT_EXEC);
    code_ = reinterpret_cast<uint64_t>(mapped);
  }
  ~CodePatchTest() override { munmap(reinterpret_cast<void*>(code_), kBytes); }
  int Call(uint64_t at) const { return reinterpret_cast<Answer>(code_ + at)(); }

  static constexpr uint64_t kBytes = 8192;
  uint64_t code_ = 0;
};

TEST_F(CodePatchTest, FindsCallsAndTailJumpsOfOneFunction) {
  const Function all = {code_, sizeof kCode};
  EXPECT_EQ(CallsOf(all, code_ + kOne), (std::vector{code_ + kTail, code_ + kCallSite}));
  EXPECT_TRUE(CallsOf(all, code_ + kTwo).empty());
  EXPECT_TRUE(CallsOf({code_ + kCaller, 4}, code_ + kOne).empty()) << "looked past the end";
  EXPECT_TRUE(CallsOf({code_, 0}, code_ + kOne).empty());
}

TEST_F(CodePatchTest, ARedirectedCallGoesToTheOtherFunction) {
  EXPECT_EQ(Call(kCaller), 11);
  EXPECT_EQ(Call(kTail), 1);
  {
    const WritableCode writable(code_, sizeof kCode);
    ASSERT_TRUE(writable);
    RedirectCall(code_ + kCallSite, code_ + kTwo);
  }
  EXPECT_EQ(Call(kCaller), 12);
  EXPECT_EQ(Call(kTail), 1);
  EXPECT_EQ(CallsOf({code_, sizeof kCode}, code_ + kTwo), std::vector{code_ + kCallSite});
}

TEST_F(CodePatchTest, AJumpReachesAnywhereAndIsAsLongAsItSays) {
  {
    const WritableCode writable(code_, kBytes);
    const auto answer = +[]() { return 42; };
    std::memset(reinterpret_cast<char*>(code_ + kRoom + kJumpBytes), 0x5a, 4);
    WriteJump(code_ + kRoom, reinterpret_cast<uint64_t>(answer));
    RedirectCall(code_ + kTail, code_ + kRoom);
  }
  EXPECT_EQ(Call(kTail), 42);
  EXPECT_EQ(*reinterpret_cast<const uint32_t*>(code_ + kRoom + kJumpBytes), 0x5a5a5a5au);
}

TEST_F(CodePatchTest, KnowsHowFarACallReaches) {
  EXPECT_TRUE(Reaches(code_, code_ + kRoom));
  EXPECT_TRUE(Reaches(code_, code_ + kTooFar - 64));
  EXPECT_FALSE(Reaches(code_, code_ + kTooFar + 64));
  EXPECT_FALSE(Reaches(code_ + 2 * kTooFar, code_));
}

TEST_F(CodePatchTest, CodeIsWritableOnlyWhileItMustBe) {
  const auto write = [this] {
    signal(SIGSEGV, SIG_DFL);  // sanitizers install their own handler
    *reinterpret_cast<volatile char*>(code_) = 0;
  };
  EXPECT_EXIT(write(), testing::KilledBySignal(SIGSEGV), "");
  { const WritableCode writable(code_, 1); }
  EXPECT_EXIT(write(), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_FALSE(WritableCode(4096, 1));
}

TEST_F(CodePatchTest, TheTargetOfAJumpChangesWhileItRuns) {
  const uint64_t jump = code_ + kCaller;
  ASSERT_TRUE(CanSetJumpTarget(code_));
  EXPECT_FALSE(CanSetJumpTarget(code_ + 48 + (kJumpBytes == 14 ? 3 : 1)));
  EXPECT_FALSE(HoldsJump(jump));
  const WritableCode writable(jump, kJumpBytes);
  ASSERT_TRUE(writable);
  WriteJump(jump, code_ + kOne);
  ASSERT_TRUE(HoldsJump(jump));
  ASSERT_TRUE(CanSetJumpTarget(jump));
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> ones = 0, twos = 0, others = 0;
  std::thread runner([&] {
    while (!stop) {
      const int answer = Call(kCaller);
      ++(answer == 1 ? ones : answer == 2 ? twos : others);
    }
  });
  for (int i = 0; i < 20'000 || ones == 0 || twos == 0; ++i)
    SetJumpTarget(jump, code_ + (i % 2 == 0 ? kTwo : kOne));
  stop = true;
  runner.join();
  EXPECT_EQ(others, 0u);
}

}  // namespace
}  // namespace jprof::hotspot
