// Tests which objects become samples of ALLOCATED_BYTES, and how many bytes they represent.
#include "jprof/agent/vm/allocation_interval.h"

#include <gtest/gtest.h>

#include "common/random.h"

namespace jprof::agent {
namespace {

constexpr uint64_t kInterval = 512 * 1024;

TEST(AllocationInterval, JvmsThatSampleRightGetTheRequestedInterval) {
  const AllocationInterval interval(kInterval, 25);
  EXPECT_EQ(interval.vm_bytes(), kInterval);
  EXPECT_TRUE(interval.Keeps(16, UINT64_MAX));
}

TEST(AllocationInterval, OlderOnesGetAShortInterval) {
  EXPECT_EQ(AllocationInterval(kInterval, 17).vm_bytes(), 32u * 1024);
  EXPECT_EQ(AllocationInterval(uint64_t{1} << 30, 24).vm_bytes(), 32u * 1024);
  EXPECT_EQ(AllocationInterval(8192, 17).vm_bytes(), 8192u) << "never a longer one";
}

TEST(AllocationInterval, AnObjectRepresentsItsSizeDividedByItsProbability) {
  const AllocationInterval interval(kInterval, 17);
  EXPECT_NEAR(static_cast<double>(interval.Weight(16)), kInterval, 16);
  EXPECT_EQ(interval.Weight(uint64_t{64} << 20), int64_t{64} << 20);
}

// The VM samples with the probability of its own interval. For many objects of one size, the
// weights of the kept samples add up to all bytes.
TEST(AllocationInterval, TheKeptObjectsRepresentAllBytes) {
  const AllocationInterval interval(kInterval, 17);
  uint64_t random = 42;
  for (const uint64_t size : {uint64_t{96}, uint64_t{2000}, uint64_t{200'000}, uint64_t{4} << 20}) {
    const double by_vm =
        -std::expm1(-static_cast<double>(size) / static_cast<double>(interval.vm_bytes()));
    constexpr int kSampled = 400'000;
    double represented = 0;
    for (int i = 0; i < kSampled; ++i)
      if (interval.Keeps(size, NextRandom(random)))
        represented += static_cast<double>(interval.Weight(size));
    const double allocated = kSampled / by_vm * static_cast<double>(size);
    EXPECT_NEAR(represented / allocated, 1, 0.03) << size;
  }
}

}  // namespace
}  // namespace jprof::agent
