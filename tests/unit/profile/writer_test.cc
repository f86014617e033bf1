// How a profile grows while the disk is slow, full or interrupted. The two functions below
// intercept the requests to the kernel: the linker prefers the program's functions to the C
// library's.
#include "profile/files/writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace {

std::function<int()> before_fallocate;  // an error number, or 0: call the kernel
std::function<void()> before_populate;

}  // namespace

extern "C" int posix_fallocate(int fd, off_t begin, off_t bytes) {
  const int error = before_fallocate ? before_fallocate() : 0;
  if (error != 0) return error;
  return syscall(SYS_fallocate, fd, 0, begin, bytes) == 0 ? 0 : errno;
}

extern "C" int madvise(void* begin, size_t bytes, int advice) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (advice == MADV_POPULATE_WRITE && before_populate) before_populate();
#endif
  return static_cast<int>(syscall(SYS_madvise, begin, bytes, advice));
}

namespace jprof::profile {
namespace {

using std::chrono::milliseconds;

constexpr uint32_t kChunk = 16 << 10;  // 1 MiB of nodes

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// A function that one thread blocks until another opens it, or until a time limit of a failed test.
class Gate {
 public:
  void Wait() {
    reached_ = true;
    for (int i = 0; i < 5000 && !open_; ++i) std::this_thread::sleep_for(milliseconds(1));
  }
  void AwaitReached() {
    while (!reached_) std::this_thread::sleep_for(milliseconds(1));
  }
  void Open() { open_ = true; }
  bool open() const { return open_; }
  bool reached() const { return reached_; }

 private:
  std::atomic<bool> reached_ = false, open_ = false;
};

class WriterTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-writer-XXXXXX";
    directory_ = mkdtemp(name);
  }
  void TearDown() override {
    before_fallocate = nullptr;
    before_populate = nullptr;
    std::filesystem::remove_all(directory_);
  }
  void Open(uint64_t tree_memory = 512 << 20) {
    WriterOptions options;
    options.directory = directory_ + "/p";
    options.tree_memory = tree_memory;
    ASSERT_TRUE(writer_.Open(options));
  }
  uint64_t MappedNodes() const {
    return std::filesystem::file_size(directory_ + "/p/nodes") / sizeof(Node);
  }

  std::string directory_;
  Writer writer_;
};

TEST_F(WriterTest, NodesAreHandedOutWhileAnotherThreadGrowsTheFile) {
  Open();
  while (MappedNodes() < 16 * kChunk) ASSERT_NE(writer_.AllocateNodes(kChunk), 0u);
  Gate gate;
  before_fallocate = [&] { return gate.Wait(), 0; };
  std::thread grower([&] {
    while (!gate.reached() && writer_.AllocateNodes(64) != 0) {
    }
  });
  gate.AwaitReached();
  const uint64_t left = MappedNodes() - writer_.header()->node_count;
  EXPECT_GT(left, kChunk);  // it grows ahead of need
  for (uint64_t taken = 0; taken + 64 <= left; taken += 64) {
    ASSERT_NE(writer_.AllocateNodes(64), 0u);
  }
  EXPECT_FALSE(gate.open());
  gate.Open();
  grower.join();
  EXPECT_GT(MappedNodes() - writer_.header()->node_count, kChunk);
}

#ifdef MADV_POPULATE_WRITE
TEST_F(WriterTest, NodesAreAllocatedWhileAnotherThreadPopulatesItsOwn) {
  Open();
  Gate gate;
  std::atomic<std::thread::id> slow;
  before_populate = [&] {
    if (std::this_thread::get_id() == slow.load()) gate.Wait();
  };
  std::thread populating([&] {
    slow = std::this_thread::get_id();
    EXPECT_NE(writer_.AllocateNodes(kChunk), 0u);
  });
  gate.AwaitReached();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(writer_.AllocateNodes(kChunk), 0u);
  EXPECT_NE(writer_.AllocateThread(), nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            milliseconds(4000));  // before the gate's time limit
  gate.Open();
  populating.join();
}
#endif

TEST_F(WriterTest, AThreadWithoutSpaceSleepsUntilTheFileHasGrown) {
  Open();
  Gate gate;
  before_fallocate = [&] { return gate.Wait(), 0; };
  std::thread grower([&] { EXPECT_NE(writer_.AllocateNodes(kChunk), 0u); });
  gate.AwaitReached();
  std::atomic<bool> began = false;
  double cpu = 0, wall = 0;
  std::thread waiting([&] {
    began = true;
    const double cpu_before = CpuSeconds();
    const auto before = std::chrono::steady_clock::now();
    EXPECT_NE(writer_.AllocateNodes(2048), 0u);
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    cpu = CpuSeconds() - cpu_before;
  });
  while (!began) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(300));
  gate.Open();
  grower.join();
  waiting.join();
  EXPECT_LT(cpu, wall / 4);
}

TEST_F(WriterTest, ThreadsShareTheCapToTheLastNode) {
  constexpr uint32_t kRun = 7;
  Open(4 << 20);
  const uint64_t limit = writer_.header()->node_limit;
  std::vector<std::vector<uint32_t>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&] {
      while (const uint32_t first = writer_.AllocateNodes(kRun)) mine.push_back(first);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint32_t> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), (limit - 1) / kRun);
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], 1 + i * kRun);
  EXPECT_EQ(writer_.header()->tree_full, 1u);
  EXPECT_EQ(writer_.header()->node_count, 1 + all.size() * kRun);
}

TEST_F(WriterTest, AFullDiskIsNoticedWhenNothingIsLeft) {
  Open();
  ASSERT_NE(writer_.AllocateNodes(kChunk), 0u);
  int asked = 0;
  before_fallocate = [&] { return ++asked, ENOSPC; };
  const uint64_t mapped = MappedNodes();
  while (writer_.header()->node_count + 64 <= mapped) {
    ASSERT_NE(writer_.AllocateNodes(64), 0u);
    ASSERT_EQ(writer_.header()->disk_full, 0u);
  }
  EXPECT_LE(asked, 1);  // in advance: once
  EXPECT_EQ(writer_.AllocateNodes(64), 0u);
  EXPECT_EQ(writer_.header()->disk_full, 1u);
  EXPECT_EQ(writer_.header()->tree_full, 0u);
  EXPECT_LE(asked, 3);  // a step, then only the required size
  EXPECT_EQ(writer_.AllocateNodes(64), 0u);
  EXPECT_LE(asked, 3);
}

TEST_F(WriterTest, AProfileThatCannotBeMadeLeavesNothing) {
  for (int fails = 0; fails < 3; ++fails) {
    int asked = 0;
    before_fallocate = [&] { return asked++ < fails ? 0 : ENOSPC; };
    Writer writer;
    EXPECT_FALSE(writer.Open({.directory = directory_ + "/p"}));
    EXPECT_GT(asked, fails);
    EXPECT_TRUE(std::filesystem::is_empty(directory_));
  }
}

TEST_F(WriterTest, AProfileWithoutAddressesLeavesNothing) {
  EXPECT_FALSE(writer_.Open(
      {.directory = directory_ + "/p", .tree_memory = 1ull << 36, .node_region = 1ull << 60}));
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

// A thread of the program may still be in the code that counts a lock.
TEST_F(WriterTest, ValuesOfLocksCanBeWrittenAfterTheEnd) {
  ASSERT_TRUE(writer_.Open({.directory = directory_ + "/p", .metric_count = 4, .locks = true}));
  const uint32_t node = writer_.AllocateNodes(1);
  int64_t* const values = writer_.extra() + 3 * node;
  values[2] = 7;
  writer_.Close();
  EXPECT_EQ(values[2], 0);
  values[2] = 8;
}

TEST_F(WriterTest, AFileThatWasThereStays) {
  std::filesystem::create_directory(directory_ + "/p");
  std::ofstream(directory_ + "/p/methods") << "mine";
  EXPECT_FALSE(writer_.Open({.directory = directory_ + "/p", .directory_is_made = true}));
  const auto left = std::filesystem::directory_iterator(directory_ + "/p");
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);
  EXPECT_EQ(std::filesystem::file_size(directory_ + "/p/methods"), 4u);
}

TEST_F(WriterTest, AnInterruptedReservationIsMadeAgain) {
  Open();
  int interruptions = 3;
  before_fallocate = [&] { return interruptions-- > 0 ? EINTR : 0; };
  EXPECT_NE(writer_.AllocateNodes(kChunk), 0u);
  EXPECT_EQ(interruptions, -1);
}

// tmpfs undoes its work and returns EINTR while a signal is pending: with a profiling timer the
// call would be repeated forever.
TEST_F(WriterTest, SignalsWaitWhileTheFileGrows) {
  Open();
  static std::atomic<int> signals;
  signals = 0;
  signal(SIGUSR1, [](int) { ++signals; });
  int asked = 0, handled = 0;
  before_fallocate = [&] {
    ++asked;
    raise(SIGUSR1);
    handled += signals;
    return 0;
  };
  EXPECT_NE(writer_.AllocateNodes(kChunk), 0u);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(signals, 1);  // afterwards
  signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace jprof::profile
