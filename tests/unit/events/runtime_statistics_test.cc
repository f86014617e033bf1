// The statistics that stubs keep inline, against the slow way to compute them.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <random>
#include <vector>

#include "jprof-events.h"

namespace {

uint64_t SlowBucket(int64_t value) {
  uint64_t bucket = 0;
  for (uint64_t rest = value < 1 ? 0 : static_cast<uint64_t>(value); rest != 0; rest >>= 1)
    ++bucket;
  return bucket;
}

// Every power of two with its neighbours, both signs, and the ends of the range.
std::vector<int64_t> Edges() {
  std::vector<int64_t> values = {0, INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1};
  for (int bit = 0; bit < 63; ++bit) {
    for (const int64_t near : {-1, 0, 1}) {
      values.push_back((int64_t{1} << bit) + near);
      values.push_back(-(int64_t{1} << bit) + near);
    }
  }
  return values;
}

TEST(RuntimeStatistics, TheBucketIsThatOfTheHighestBit) {
  if (jprof_events_bucket(1) != 1) GTEST_SKIP() << "this processor has no lzcnt";
  for (const int64_t value : Edges())
    EXPECT_EQ(jprof_events_bucket(value), SlowBucket(value)) << value;
}

void ExpectAdded(const std::vector<int64_t>& values) {
  jprof_events_statistics kept = {};
  kept.min = INT64_MAX;
  kept.max = INT64_MIN;
  uint64_t sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    jprof_events_add(&kept, values[i], SlowBucket(values[i]));
    sum += static_cast<uint64_t>(values[i]);
    const auto [least, most] = std::minmax_element(values.begin(), values.begin() + i + 1);
    ASSERT_EQ(kept.min, *least) << i;
    ASSERT_EQ(kept.max, *most) << i;
  }
  EXPECT_EQ(static_cast<uint64_t>(kept.sum), sum);
  for (uint64_t bucket = 0; bucket < 64; ++bucket) {
    const auto in_it = [&](int64_t value) { return SlowBucket(value) == bucket; };
    EXPECT_EQ(kept.histogram[bucket], std::ranges::count_if(values, in_it)) << bucket;
  }
}

TEST(RuntimeStatistics, LeastAndMostAreThoseOfAllValuesInAnyOrder) {
  std::vector<int64_t> values = Edges();
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    std::ranges::shuffle(values, random);
    ExpectAdded(values);
  }
  for (const int64_t first : {int64_t{0}, INT64_MIN, INT64_MAX}) {
    ExpectAdded({first});
    ExpectAdded({first, INT64_MAX, INT64_MIN, 5, first});
  }
}

}  // namespace
