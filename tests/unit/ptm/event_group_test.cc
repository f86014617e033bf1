#include "ptm/event_group.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

namespace jprof::ptm {
namespace {

EventSpec Software(const char* name, uint64_t config) {
  return {name, PERF_TYPE_SOFTWARE, config, 0, 0, 0};
}
const EventSpec kPageFaults = Software("page-faults", PERF_COUNT_SW_PAGE_FAULTS);
const EventSpec kMinorFaults = Software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN);
const EventSpec kSwitches = Software("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES);
const EventSpec kInstructions{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0,
                              kExcludeKernel};

// Skips where perf events are not available: under an emulator, in a sandbox.
#define OPEN_OR_SKIP(group, ...)                                                      \
  do {                                                                                \
    const OpenFailure failure = (group).Open(__VA_ARGS__);                            \
    if (failure.error == ENOSYS || failure.error == EPERM || failure.error == EACCES) \
      GTEST_SKIP() << "perf_event_open: " << strerror(failure.error);                 \
    ASSERT_FALSE(failure.Failed())                                                    \
        << "event " << failure.event << ": " << strerror(failure.error);              \
  } while (false)

// Fresh memory of small pages, touched on request.
class FreshPages {
 public:
  explicit FreshPages(size_t pages) : bytes_(pages * kPage) {
    base_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(base_, bytes_, MADV_NOHUGEPAGE);
  }
  ~FreshPages() { munmap(base_, bytes_); }
  void Touch() {
    for (size_t at = 0; at < bytes_; at += kPage) const_cast<volatile char*>(base_)[at] = 1;
  }

 private:
  static inline const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t bytes_;
  char* base_;
};

int OpenDescriptors() {
  DIR* dir = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count;
}

TEST(EventGroup, CountsPageFaultsExactly) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "a sanitizer touches memory of its own: page faults are not exact";
#endif
  const EventSpec events[] = {kPageFaults};
  EventGroup group;
  OPEN_OR_SKIP(group, events);
  for (const int pages : {1, 7, 1000}) {
    FreshPages fresh(pages);
    Read(group.slot(0));  // maps the code and the stack
    const int64_t before = Read(group.slot(0));
    fresh.Touch();
    const int64_t after = Read(group.slot(0));
    EXPECT_EQ(after - before, pages);
  }
  EXPECT_EQ(group.Status(0).running, 1);
  EXPECT_TRUE(group.Status(0).by_call);
  EXPECT_EQ(group.Status(0).failed_reads, 0u);
}

// The program closes the descriptor, and another thread's event gets its number.
TEST(EventGroup, AnEventOfTheSameNumberIsNeitherReadNorClosed) {
  const EventSpec events[] = {kPageFaults};
  EventGroup group, other;
  OPEN_OR_SKIP(group, events);
  OPEN_OR_SKIP(other, events);
  const int number = group.slot(0).fd;
  ASSERT_EQ(dup2(other.slot(0).fd, number), number);
  errno = ENOENT;
  const int64_t before = Read(group.slot(0));
  EXPECT_EQ(Read(group.slot(0)), before);
  EXPECT_EQ(group.slot(0).failed_reads, 2u);
  EXPECT_EQ(errno, ENOENT);
  group.Close();
  EXPECT_EQ(EventId(number), EventId(other.slot(0).fd));
  close(number);
  Read(other.slot(0));
  EXPECT_EQ(other.slot(0).failed_reads, 0u);
}

TEST(EventGroup, ReadsAllInMetricOrder) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "a sanitizer touches memory of its own: page faults are not exact";
#endif
  const EventSpec events[] = {kSwitches, kPageFaults, kMinorFaults};
  EventGroup group;
  OPEN_OR_SKIP(group, events);
  int64_t before[3];
  int64_t after[3];
  FreshPages fresh(50);
  group.ReadAll(before);
  group.ReadAll<3>(before);
  fresh.Touch();
  group.ReadAll<3>(after);
  EXPECT_EQ(after[1] - before[1], 50);
  EXPECT_EQ(after[2] - before[2], 50);
  for (int i = 0; i < 20; ++i) usleep(1000);
  group.ReadAll(after);
  EXPECT_GE(after[0] - before[0], 20);
  EXPECT_LT(after[1] - before[1], 60);
}

TEST(EventGroup, CountsTheOpeningThreadOnly) {
  const EventSpec events[] = {kPageFaults};
  EventGroup group;
  OPEN_OR_SKIP(group, events);
  Read(group.slot(0));
  const int64_t before = Read(group.slot(0));
  std::thread([] { FreshPages(5000).Touch(); }).join();
  EXPECT_LT(Read(group.slot(0)) - before, 1000);  // starting a thread causes a few faults
}

TEST(EventGroup, CloseReleasesEverythingAndItCanBeOpenedAgain) {
  const std::vector<EventSpec> events(kMaxEvents, kPageFaults);
  EventGroup group;
  OPEN_OR_SKIP(group, events);
  group.Close();
  const int descriptors = OpenDescriptors();
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(group.Open(events).Failed());
    EXPECT_EQ(OpenDescriptors(), descriptors + kMaxEvents);
    group.Close();
  }
  EXPECT_EQ(group.size(), 0);
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

TEST(EventGroup, AllEventsOrNone) {
  const EventSpec events[] = {kPageFaults, Software("none", 9999)};
  EventGroup group;
  const int descriptors = OpenDescriptors();
  const OpenFailure failure = group.Open(events);
  EXPECT_TRUE(failure.Failed());
  if (failure.error != ENOSYS && failure.error != EPERM && failure.error != EACCES) {
    EXPECT_EQ(failure.event, 1);
  }
  EXPECT_EQ(group.size(), 0);
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

TEST(EventGroup, RefusesNineEvents) {
  EventGroup group;
  EXPECT_EQ(group.Open(std::vector<EventSpec>(9, kPageFaults)).error, E2BIG);
}

TEST(EventGroup, AReadThatFailsKeepsTheLastValueAndIsCounted) {
  const EventSpec events[] = {kPageFaults};
  EventGroup group;
  OPEN_OR_SKIP(group, events);
  FreshPages(10).Touch();
  const int64_t last = Read(group.slot(0));
  EXPECT_GE(last, 10);
  EventSlot broken = group.slot(0);
  broken.leader = -1;
  EXPECT_EQ(Read(broken), last);
  EXPECT_EQ(broken.failed_reads, 1u);
}

TEST(EventGroup, AReadingIsWhatTheKernelHas) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "a sanitizer touches memory of its own: page faults are not exact";
#endif
  const EventSpec events[] = {kSwitches, kPageFaults};
  EventGroup group;
  OPEN_OR_SKIP(group, events);
  FreshPages fresh(50);
  ASSERT_TRUE(group.Reading(1));
  const CounterReading before = *group.Reading(1);
  fresh.Touch();
  const CounterReading now = *group.Reading(1);
  EXPECT_EQ(now.count - before.count, 50u);
  EXPECT_GT(now.enabled, before.enabled);
  EXPECT_EQ(ExactCount(before, now), 50u);  // a software event never waits for a counter
  group.slot(1).leader = -1;
  EXPECT_FALSE(group.Reading(1));
}

TEST(ExactCount, IsTheDifferenceOrNothing) {
  EXPECT_EQ(ExactCount({}, {}), 0u);  // it was never enabled
  EXPECT_EQ(ExactCount({}, {700, 1000, 1000}), 700u);
  EXPECT_EQ(ExactCount({700, 1000, 1000}, {900, 3000, 3000}), 200u);
  EXPECT_EQ(ExactCount({}, {700, 1'000'000, 999'500}), 700u);  // the kernel's rounding
  EXPECT_FALSE(ExactCount({}, {700, 1000, 990}));
  EXPECT_FALSE(ExactCount({}, {0, 1000, 0}));  // never on a counter: not 0 events
}

TEST(ExactCount, OnlyTheTimeBetweenTheReadingsMatters) {
  const CounterReading turns = {700, 3000, 1000}, after = {900, 4000, 2000};
  EXPECT_FALSE(ExactCount({}, turns));
  EXPECT_EQ(ExactCount(turns, after), 200u);
  EXPECT_FALSE(ExactCount(after, {950, 5000, 2500}));
}

// On machines with a PMU: the count follows the work, with whichever way of reading is available.
TEST(EventGroup, CountsInstructions) {
  const EventSpec events[] = {kInstructions, kPageFaults};
  EventGroup group;
  if (group.Open(events).Failed()) GTEST_SKIP() << "no hardware counters on this machine";
  const auto loop = [&](int turns) {
    const int64_t before = Read(group.slot(0));
    for (int i = 0; i < turns; ++i) asm volatile("");
    return Read(group.slot(0)) - before;
  };
  loop(1000);
  const int64_t small = loop(1'000'000);
  const int64_t large = loop(10'000'000);
  EXPECT_GT(small, 1'000'000);
  EXPECT_NEAR(static_cast<double>(large) / static_cast<double>(small), 10, 0.5);
}

// ---- The user-space reader, against a page written by hand. ----

struct FakeRegister {
  static inline uint64_t value = 0;
  static inline uint32_t asked = 0;
  static inline void (*during)() = nullptr;  // the kernel's actions in the middle of a read
  static inline int reads = 0;
  static uint64_t Read(uint32_t counter) {
    asked = counter;
    ++reads;
    const uint64_t seen = value;
    if (during != nullptr) during();
    return seen;
  }
};

class FakePageTest : public testing::Test {
 protected:
  FakePageTest() {
    memset(&page_, 0, sizeof(page_));
    page_.lock = 2;
    page_.cap_user_rdpmc = 1;
    page_.index = 3;
    page_.pmc_width = 48;
    page_.offset = 1000;
    page_.time_enabled = page_.time_running = 500;
    FakeRegister::value = 234;
    FakeRegister::asked = 99;
    FakeRegister::during = nullptr;
    FakeRegister::reads = 0;
    slot_.page = &page_;
  }
  int64_t ReadSlot() { return Read<FakeRegister>(slot_); }

  // Static, so that `during` can be a plain function.
  static inline perf_event_mmap_page page_;
  EventSlot slot_;  // no descriptor: a fallback to read() fails visibly
};

TEST_F(FakePageTest, AddsTheCounterToTheOffset) {
  EXPECT_EQ(ReadSlot(), 1234);
  EXPECT_EQ(FakeRegister::asked, 2u);
  EXPECT_EQ(slot_.failed_reads, 0u);
}

TEST_F(FakePageTest, ExtendsTheSignFromTheCountersWidth) {
  FakeRegister::value = (1ull << 48) - 100;  // the kernel preset the counter with -100
  EXPECT_EQ(ReadSlot(), 900);
  FakeRegister::value |= 0xabcull << 48;  // bits above the width are noise
  EXPECT_EQ(ReadSlot(), 900);
  page_.pmc_width = 32;
  FakeRegister::value = 0x7fffffff;
  EXPECT_EQ(ReadSlot(), 1000 + 0x7fffffffll);
  FakeRegister::value = 0x80000000;
  page_.offset = 0x80000001ll;
  EXPECT_EQ(ReadSlot(), 1);
  page_.pmc_width = 64;
  FakeRegister::value = 5;
  page_.offset = -3;
  EXPECT_EQ(ReadSlot(), 2);
}

TEST_F(FakePageTest, ReadsAgainWhenTheLockMoves) {
  FakeRegister::during = [] {
    FakeRegister::during = nullptr;
    page_.lock += 2;  // the kernel moved the event to another counter
    page_.index = 8;
    page_.offset = 5000;
    FakeRegister::value = 7;
  };
  EXPECT_EQ(ReadSlot(), 5007);
  EXPECT_EQ(FakeRegister::reads, 2);
  EXPECT_EQ(FakeRegister::asked, 7u);
}

TEST_F(FakePageTest, FallsBackWhenTheEventLeavesTheCounterMidRead) {
  FakeRegister::during = [] {
    FakeRegister::during = nullptr;
    page_.lock += 2;
    page_.index = 0;
  };
  ReadSlot();
  EXPECT_EQ(FakeRegister::reads, 1);
  EXPECT_EQ(slot_.failed_reads, 1u);
}

TEST_F(FakePageTest, Index0AndNoCapabilityAreReadByCall) {
  page_.index = 0;
  ReadSlot();
  EXPECT_EQ(slot_.failed_reads, 1u);
  page_.index = 3;
  page_.cap_user_rdpmc = 0;
  ReadSlot();
  EXPECT_EQ(slot_.failed_reads, 2u);
  EXPECT_EQ(FakeRegister::reads, 0);
}

TEST_F(FakePageTest, ScalesByTheTimeOnTheCounter) {
  page_.time_enabled = 3000;
  page_.time_running = 1000;
  page_.offset = 0;
  FakeRegister::value = 100;
  EXPECT_EQ(ReadSlot(), 300);
  FakeRegister::value = 150;
  EXPECT_EQ(ReadSlot(), 450);
  page_.time_running = 1500;  // now on it half the time
  FakeRegister::value = 250;
  EXPECT_EQ(ReadSlot(), 650);
  EXPECT_TRUE(slot_.multiplexed);
}

TEST_F(FakePageTest, WhenMultiplexingBeginsAllOfTheCountIsScaledOnce) {
  EXPECT_EQ(Settle(slot_, {100, 500, 500}), 100);
  EXPECT_EQ(Settle(slot_, {200, 1000, 500}), 400);
  EXPECT_EQ(Settle(slot_, {300, 2000, 1000}), 600);
}

TEST_F(FakePageTest, ScaledValueNeverFallsAndLargeCountsDoNotOverflow) {
  page_.offset = 0;
  page_.pmc_width = 64;
  FakeRegister::value = 1ull << 60;
  page_.time_enabled = 4'000'000'000'000;
  page_.time_running = 2'000'000'000'000;
  int64_t last = ReadSlot();
  EXPECT_EQ(last, 1ll << 61);
  page_.time_running = 3'990'000'000'000;  // the ratio falls, but the value does not decrease
  EXPECT_GE(ReadSlot(), last);
  page_.time_running = 0;
  EXPECT_GE(ReadSlot(), last);
}

TEST_F(FakePageTest, TheKernelsRoundingIsNoMultiplexing) {
  page_.time_enabled = 1'000'000;
  page_.time_running = 999'500;
  EXPECT_EQ(ReadSlot(), 1234);
  EXPECT_FALSE(slot_.multiplexed);
}

TEST_F(FakePageTest, NeverOnACounterIsZero) {
  page_.time_running = 0;
  page_.offset = 0;
  FakeRegister::value = 0;
  EXPECT_EQ(ReadSlot(), 0);
  EXPECT_TRUE(slot_.multiplexed);
}

}  // namespace
}  // namespace jprof::ptm
