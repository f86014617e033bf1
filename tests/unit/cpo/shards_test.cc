#include "cpo/model/shards.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/cpo/oracle.h"

namespace jprof::cpo {
namespace {

using oracle::Stream;

DistanceHistogram ExactOf(const Stream& stream) {
  ReuseDistances distances;
  DistanceHistogram histogram;
  for (const uint64_t unit : stream.units) histogram.Add(distances.Touch(unit));
  return histogram;
}

struct Both {
  SampledReuse sampled;
  DistanceHistogram exact;
};

Both Observe(const Stream& stream, Sampling sampling) {
  Both both{SampledReuse(sampling), ExactOf(stream)};
  for (const uint64_t unit : stream.units) both.sampled.Touch(unit);
  return both;
}

// The difference of the misses as a fraction of the references.
double Error(uint64_t misses, const DistanceHistogram& exact, uint64_t size) {
  const double difference = static_cast<double>(misses) - static_cast<double>(exact.Misses(size));
  return std::abs(difference) / static_cast<double>(exact.references());
}
double ErrorAt(const Both& both, uint64_t size) {
  return Error(both.sampled.Misses(size), both.exact, size);
}

// 300,000 units once, and then 5,000 in a loop: most misses are those of few units.
Stream TwoPhases() {
  Stream stream = oracle::LoopingStream(300'000, 300'000);
  for (uint64_t at = 0; at < 700'000; ++at) stream.units.push_back(1'000'000 + at % 5'000);
  return stream;
}

WeightedReuse InTwoPasses(const Stream& stream) {
  WeightedReuse reuse;
  for (const uint64_t unit : stream.units) reuse.Count(unit);
  for (const uint64_t unit : stream.units) reuse.Touch(unit);
  return reuse;
}

TEST(WeightedReuse, ASampleIsWithinTwoPercentOfTheReferences) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "one thread only, and half a minute with a sanitizer";
#endif
  for (const Stream& stream :
       {oracle::RandomStream(1'000'000, 400'000), oracle::StridedStream(1'000'000, 400'000, 4099),
        oracle::ZipfStream(1'000'000, 400'000, 0.8), oracle::ZipfStream(1'000'000, 400'000, 1.1),
        TwoPhases()}) {
    const DistanceHistogram exact = ExactOf(stream);
    const WeightedReuse reuse = InTwoPasses(stream);
    EXPECT_EQ(reuse.units(), exact.first_references());
    EXPECT_LT(reuse.sampled_units(), kSampledUnits * 11 / 10) << stream.name;
    for (const uint64_t size : {32u, 64u, 512u, 2048u, 4096u, 50'000u, 300'000u}) {
      EXPECT_LT(Error(reuse.Misses(size), exact, size), 0.02) << stream.name << ", " << size;
    }
  }
}

// So many references that one in 100 units has the least weight that is allowed.
TEST(WeightedReuse, OnePercentOfTheUnitsIsWithinTwoPercentOfTheReferences) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "one thread only, and half a minute with a sanitizer";
#endif
  const Stream stream = oracle::RandomStream(3'600'000, 2'500'000);
  const DistanceHistogram exact = ExactOf(stream);
  const WeightedReuse reuse = InTwoPasses(stream);
  EXPECT_LT(reuse.sampled_units(), reuse.units() * 21 / 1000);
  for (const uint64_t size : {64u, 2048u, 100'000u, 2'000'000u}) {
    EXPECT_LT(Error(reuse.Misses(size), exact, size), 0.02) << size;
  }
}

TEST(WeightedReuse, FewReferencesAreExact) {
  for (const Stream& stream : oracle::SmallStreams()) {
    const DistanceHistogram exact = ExactOf(stream);
    const WeightedReuse reuse = InTwoPasses(stream);
    for (const uint64_t size : {1u, 64u, 97u, 1500u}) {
      EXPECT_EQ(reuse.Misses(size), exact.Misses(size)) << stream.name;
    }
  }
}

TEST(WeightedReuse, HotUnitsAreAlwaysInTheSample) {
  EXPECT_EQ(WeightOf(1, 1000, 100), 1u);
  EXPECT_EQ(WeightOf(1, 10 * kSampledUnits, 100), 10u);
  EXPECT_EQ(WeightOf(5, 10 * kSampledUnits, 100), 2u);
  EXPECT_EQ(WeightOf(10, 10 * kSampledUnits, 100), 1u);
  EXPECT_EQ(WeightOf(1, uint64_t{1000} * kSampledUnits, 100), 100u);
}

// More than 10,000 units of equal chances in the sample, and a large cache.
TEST(Shards, OnePercentOfTheUnitsIsNearForLargeCaches) {
  const Both both =
      Observe(oracle::RandomStream(2'500'000, 1'700'000), Sampling::FixedRate(kOnePercent));
  EXPECT_GT(both.sampled.sampled_units(), 10'000u);
  for (const uint64_t size : {2048u, 10'000u, 100'000u, 1'000'000u}) {
    EXPECT_LT(ErrorAt(both, size), 0.03) << size;
  }
}

TEST(Shards, FixedSizeIsBoundedAndNear) {
  const Both both = Observe(oracle::RandomStream(1'000'000, 300'000), Sampling::FixedSize(8192));
  EXPECT_LE(both.sampled.sampled_units(), 8192u);
  EXPECT_GT(both.sampled.sampled_units(), 3000u);
  for (const uint64_t size : {10'000u, 100'000u, 250'000u}) EXPECT_LT(ErrorAt(both, size), 0.03);
}

TEST(Shards, FixedRateSamplesSoManyOfTheUnits) {
  const Both both = Observe(oracle::LoopingStream(1'000'000, 500'000), Sampling::FixedRate(50));
  EXPECT_NEAR(static_cast<double>(both.sampled.sampled_units()), 10'000, 400);
  EXPECT_EQ(both.sampled.weight(), 50u);
}

// One unit has half of the references. If it is in the sample, or is not, must make no difference.
TEST(Shards, AHotUnitDoesNotScaleTheMisses) {
  for (uint64_t hot = 1'000'000; hot < 1'000'040; ++hot) {
    Stream stream = oracle::RandomStream(200'000, 400'000, hot);
    for (size_t index = 0; index < stream.units.size(); index += 2) stream.units[index] = hot;
    const Both both = Observe(stream, Sampling::FixedRate(20));
    EXPECT_LT(ErrorAt(both, 4096), 0.02) << hot << (IsSampled(hot, 20) ? ", sampled" : "");
  }
}

TEST(Shards, ASampleContainsEachSmallerOne) {
  for (uint64_t unit = 0; unit < 10'000; ++unit) {
    for (uint32_t weight = 1; weight < 200; weight += 7) {
      if (IsSampled(unit, weight + 1)) {
        EXPECT_TRUE(IsSampled(unit, weight));
      }
    }
    EXPECT_TRUE(IsSampled(unit, 1));
  }
}

TEST(Shards, MissesAreNeverMoreThanReferences) {
  SampledReuse sampled(Sampling::FixedRate(3));
  for (uint64_t unit = 0; unit < 1000; ++unit) {
    sampled.Touch(unit);
    EXPECT_LE(sampled.Misses(64), sampled.references());
  }
}

}  // namespace
}  // namespace jprof::cpo
