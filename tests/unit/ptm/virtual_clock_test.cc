#include "ptm/virtual_clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace jprof::ptm {
namespace {

TEST(VirtualClock, AThreadThatIsGoneHasNoCpuTime) {
  pid_t tid = 0;
  std::thread([&] { tid = gettid(); }).join();
  // join() returns when the kernel has cleared the thread's id, shortly before the thread is gone.
  for (int i = 0; i < 1000 && access(("/proc/self/task/" + std::to_string(tid)).c_str(), F_OK) == 0;
       ++i)
    usleep(1000);
  EXPECT_EQ(VirtualClock::CpuNanosOf(static_cast<uint32_t>(tid)), std::nullopt);
  const auto own = VirtualClock::CpuNanosOf(static_cast<uint32_t>(gettid()));
  ASSERT_TRUE(own);
  EXPECT_GT(*own, 0);
  EXPECT_LE(*own, VirtualClock::CpuNanos());
}

}  // namespace
}  // namespace jprof::ptm
