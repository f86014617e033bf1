#include "cpo/model/reuse_distance.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/cpo/oracle.h"

namespace jprof::cpo {
namespace {

using oracle::SmallStreams;
using oracle::Stream;

constexpr uint64_t kSizes[] = {0, 1, 2, 3, 16, 63, 64, 96, 97, 98, 128, 299, 300, 1500, 4096};

DistanceHistogram HistogramOf(const std::vector<uint64_t>& units) {
  ReuseDistances distances;
  DistanceHistogram histogram;
  for (const uint64_t unit : units) histogram.Add(distances.Touch(unit));
  return histogram;
}

TEST(ReuseDistance, CountsDistinctOthers) {
  ReuseDistances distances;
  std::vector<uint64_t> found;
  for (const char unit : std::string("abcbbaac")) found.push_back(distances.Touch(unit));
  const uint64_t first = ReuseDistances::kFirst;
  EXPECT_EQ(found, (std::vector<uint64_t>{first, first, first, 1, 0, 2, 0, 2}));
  EXPECT_EQ(distances.units(), 3u);
}

TEST(ReuseDistance, MissesAreThoseOfAListForEachSize) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "one thread only, and half a minute with a sanitizer";
#endif
  for (const Stream& stream : SmallStreams()) {
    const DistanceHistogram histogram = HistogramOf(stream.units);
    EXPECT_EQ(histogram.references(), stream.units.size());
    for (const uint64_t size : kSizes) {
      const uint64_t expected =
          size == 0 ? stream.units.size() : oracle::Misses(stream.units, size);
      EXPECT_EQ(histogram.Misses(size), expected) << stream.name << ", " << size;
    }
  }
}

TEST(ReuseDistance, FirstReferencesAreTheDistinctUnits) {
  for (const Stream& stream : SmallStreams()) {
    const std::set<uint64_t> distinct(stream.units.begin(), stream.units.end());
    EXPECT_EQ(HistogramOf(stream.units).first_references(), distinct.size()) << stream.name;
  }
}

TEST(ReuseDistance, MorePagesNeverMissMore) {
  for (const Stream& stream : SmallStreams()) {
    const DistanceHistogram histogram = HistogramOf(stream.units);
    std::vector<uint64_t> sizes;
    for (uint64_t size = 0; size < 3000; ++size) sizes.push_back(size);
    const std::vector<uint64_t> curve = histogram.MissCurve(sizes);
    EXPECT_TRUE(std::ranges::is_sorted(curve, std::greater<>())) << stream.name;
    EXPECT_EQ(curve.front(), stream.units.size());
    EXPECT_EQ(histogram.Misses(~uint64_t{0}), histogram.first_references());
  }
}

TEST(ReuseDistance, AWeightStandsForSoManyUnits) {
  ReuseDistances distances;
  distances.Touch(1, 5);
  distances.Touch(2, 7);
  distances.Touch(3, 1);
  EXPECT_EQ(distances.Touch(1, 5), 8u);
  EXPECT_EQ(distances.Touch(2, 7), 6u);
}

TEST(ReuseDistance, ThinningKeepsTheOrderOfTheOthers) {
  ReuseDistances distances;
  for (uint64_t unit = 0; unit < 10; ++unit) distances.Touch(unit);
  distances.Thin([](uint64_t unit) { return unit % 2 == 0; }, 2);
  EXPECT_EQ(distances.units(), 5u);
  EXPECT_EQ(distances.Touch(4, 2), 4u);  // 6 and 8
  EXPECT_EQ(distances.Touch(5, 2), ReuseDistances::kFirst);
}

TEST(DistanceHistogram, FarDistancesShareCountersOfNearlyTheirSize) {
  DistanceHistogram histogram(256);
  for (uint64_t distance = 1; distance < (uint64_t{1} << 40); distance *= 3) {
    histogram.Add(distance);
  }
  std::vector<uint64_t> least;
  histogram.ForEach(
      [&](uint64_t distance, uint64_t count) { least.insert(least.end(), count, distance); });
  size_t index = 0;
  for (uint64_t distance = 1; distance < (uint64_t{1} << 40); distance *= 3, ++index) {
    ASSERT_LE(least.at(index), distance);
    EXPECT_LE(distance - least[index], distance / 256);
  }
  EXPECT_EQ(index, least.size());
}

TEST(PageReuse, CountsThreeSizesAtOnce) {
  PageReuse reuse;
  const auto stream = oracle::RandomStream(20000, 64u << 20);
  for (const uint64_t address : stream.units) reuse.Touch(address);
  for (const int shift : PageReuse::kShifts) {
    std::vector<uint64_t> pages;
    for (const uint64_t address : stream.units) pages.push_back(address >> shift);
    EXPECT_EQ(reuse.Of(shift).Misses(24), oracle::Misses(pages, 24)) << shift;
  }
  EXPECT_LT(reuse.Of(kLargeShift).Misses(16), reuse.Of(kMiddleShift).Misses(16));
}

}  // namespace
}  // namespace jprof::cpo
