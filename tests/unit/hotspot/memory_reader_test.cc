// Loads from memory that may be unmapped at any moment, with a fault handler like the VM's.
#include "jprof/hotspot/vm/memory_reader.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <thread>

// Like the VM's SafeFetchN_impl.
extern "C" {
intptr_t TestFetch(const intptr_t* address, intptr_t otherwise);
extern const char TestFetchFault[], TestFetchContinuation[];
}
#if defined(__x86_64__)
asm(R"(
  .text
  .globl TestFetch, TestFetchFault, TestFetchContinuation
  .type TestFetch, @function
TestFetch:
TestFetchFault:
  movq (%rdi), %rax
  ret
TestFetchContinuation:
  movq %rsi, %rax
  ret
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl TestFetch, TestFetchFault, TestFetchContinuation
  .type TestFetch, %function
TestFetch:
TestFetchFault:
  ldr x0, [x0]
  ret
TestFetchContinuation:
  mov x0, x1
  ret
)");
#endif

namespace jprof::hotspot {
namespace {

constexpr size_t kPage = 4096;

void Land(int, siginfo_t*, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  auto& pc = machine.gregs[REG_RIP];
#elif defined(__aarch64__)
  auto& pc = machine.pc;
#endif
  using Pc = std::remove_reference_t<decltype(pc)>;
  if (pc != reinterpret_cast<Pc>(TestFetchFault)) abort();
  pc = reinterpret_cast<Pc>(TestFetchContinuation);
}

class MemoryReaderTest : public testing::TestWithParam<MemoryReader::Fetch> {
 protected:
  void SetUp() override {
    struct sigaction action = {};
    action.sa_sigaction = Land;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
    pages_ = static_cast<char*>(
        mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages_, MAP_FAILED);
  }
  void TearDown() override {
    munmap(pages_, 3 * kPage);
    sigaction(SIGSEGV, &before_, nullptr);
  }
  uint64_t At(size_t offset) const { return reinterpret_cast<uint64_t>(pages_) + offset; }

  char* pages_ = nullptr;
  struct sigaction before_;
};
INSTANTIATE_TEST_SUITE_P(By, MemoryReaderTest, testing::Values(nullptr, TestFetch),
                         [](const auto& tested) { return tested.param ? "Fetch" : "Kernel"; });

TEST_P(MemoryReaderTest, DistinguishesMappedFromUnmapped) {
  MemoryReader memory(GetParam());
  mprotect(pages_ + kPage, kPage, PROT_NONE);
  errno = 77;
  EXPECT_TRUE(memory.Reaches(At(0), kPage));
  EXPECT_FALSE(memory.Reaches(At(kPage - 1), 2));
  EXPECT_FALSE(memory.Reaches(At(kPage), 1));
  EXPECT_TRUE(memory.Reaches(At(2 * kPage), 8));
  EXPECT_FALSE(memory.Reaches(At(0), 0));
  EXPECT_FALSE(memory.Reaches(0, 8));
  EXPECT_FALSE(memory.Reaches(8, 8));
  EXPECT_FALSE(memory.Reaches(~uint64_t{0} - 3, 8));
  EXPECT_FALSE(memory.Reaches(uint64_t{0xdead} << 48, 8));
  EXPECT_EQ(errno, 77);
}

TEST_P(MemoryReaderTest, LoadsFieldsOfEverySize) {
  MemoryReader memory(GetParam());
  for (int i = 0; i < 16; ++i) pages_[i] = static_cast<char>(0xf0 + i);
  EXPECT_EQ(memory.Get<uint64_t>(At(8)), 0xfffefdfcfbfaf9f8);
  EXPECT_EQ(memory.Get<uint32_t>(At(4)), 0xf7f6f5f4);
  EXPECT_EQ(memory.Get<int32_t>(At(12)), static_cast<int32_t>(0xfffefdfc));
  EXPECT_EQ(memory.Get<uint16_t>(At(6)), 0xf7f6);
  EXPECT_EQ(memory.Get<uint8_t>(At(15)), 0xff);
  uint8_t copy[9];
  ASSERT_TRUE(memory.Copy(At(3), sizeof copy, copy));
  for (int i = 0; i < 9; ++i) EXPECT_EQ(copy[i], 0xf3 + i);
  uint32_t across;
  EXPECT_FALSE(memory.Load(At(6), &across));  // no field is split like this
}

// Any value in memory is returned, including the one that indicates a fault.
TEST_F(MemoryReaderTest, EveryValueIsReturned) {
  MemoryReader memory(TestFetch);
  for (const uint64_t value : {0x5afefe7c5afefe7cul, ~0x5afefe7c5afefe7cul, 0ul, ~0ul}) {
    *reinterpret_cast<uint64_t*>(pages_) = value;
    uint64_t word = 1;
    EXPECT_TRUE(memory.Load(At(0), &word));
    EXPECT_EQ(word, value);
  }
}

// Another thread continuously unmaps and remaps the page: between any check and any load.
TEST_F(MemoryReaderTest, MemoryThatIsUnmappedWhileItIsRead) {
  *reinterpret_cast<uint64_t*>(pages_) = 4711;
  std::atomic<bool> stop = false;
  std::thread taker([&] {
    while (!stop) {
      mprotect(pages_, kPage, PROT_NONE);
      mprotect(pages_, kPage, PROT_READ);
    }
  });
  MemoryReader memory(TestFetch);
  long there = 0, gone = 0;
  for (int i = 0; i < 50'000'000 && (there < 20'000 || gone < 2'000); ++i) {
    uint64_t word = 0;
    if (!memory.Load(At(0), &word)) {
      ++gone;
    } else {
      ++there;
      ASSERT_EQ(word, 4711u);
    }
  }
  stop = true;
  taker.join();
  EXPECT_GE(gone, 2'000);
  EXPECT_GE(there, 20'000);
}

}  // namespace
}  // namespace jprof::hotspot
