#include "jprof/agent/vm/native_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <latch>
#include <thread>

namespace jprof::agent {
namespace {

TEST(NativeThreads, AreListedWithTheirKernelNames) {
  std::latch named(1), done(1);
  uint32_t tid = 0;
  std::thread other([&] {
    pthread_setname_np(pthread_self(), "jprof listed");
    tid = CurrentTid();
    named.count_down();
    done.wait();
  });
  named.wait();
  const std::vector<uint32_t> tids = NativeThreads();
  const std::string name = KernelName(tid);
  done.count_down();
  other.join();
  EXPECT_NE(tid, CurrentTid());
  EXPECT_TRUE(std::ranges::is_sorted(tids));
  EXPECT_TRUE(std::ranges::binary_search(tids, tid));
  EXPECT_TRUE(std::ranges::binary_search(tids, static_cast<uint32_t>(getpid())));
  EXPECT_EQ(name, "jprof listed");
}

TEST(NativeThreads, AThreadThatDoesNotExistHasNoName) { EXPECT_EQ(KernelName(0x7fffffff), ""); }

TEST(TakeByJavaName, ComparesTheFirstFifteenBytes) {
  std::vector<UnnamedThread> threads = {
      {"C2 CompilerThre", 1}, {"Common-Cleaner", 2}, {"Reference Handl", 3}};
  const auto taken = TakeByJavaName(threads, "Reference Handler");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->value, 3u);
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_FALSE(TakeByJavaName(threads, "Reference Handler")) << "each thread is taken once";
  EXPECT_FALSE(TakeByJavaName(threads, "Common"));
  EXPECT_FALSE(TakeByJavaName(threads, "Common-Cleaner2"));
  EXPECT_TRUE(TakeByJavaName(threads, "Common-Cleaner"));
}

TEST(TakeByJavaName, OfEqualNamesTheFirstIsTaken) {
  std::vector<UnnamedThread> threads = {{"pool", 1}, {"pool", 2}};
  EXPECT_EQ(TakeByJavaName(threads, "pool")->value, 1u);
  EXPECT_EQ(TakeByJavaName(threads, "pool")->value, 2u);
  EXPECT_FALSE(TakeByJavaName(threads, "pool"));
}

}  // namespace
}  // namespace jprof::agent
