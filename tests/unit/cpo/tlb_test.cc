#include "cpo/model/tlb.h"

#include <gtest/gtest.h>

#include "tests/unit/cpo/oracle.h"

namespace jprof::cpo {
namespace {

TlbGeometry Parsed(std::string_view text) { return ParseTlb(text).value(); }

TEST(Tlb, AnArrayIsAListWhereItIsFullyAssociative) {
  for (const oracle::Stream& stream : oracle::SmallStreams()) {
    for (const uint32_t size : {1u, 2u, 64u, 97u, 300u}) {
      LruSets array({size, size});
      uint64_t misses = 0;
      for (const uint64_t unit : stream.units) misses += !array.Touch(unit, unit);
      EXPECT_EQ(misses, oracle::Misses(stream.units, size)) << stream.name << ", " << size;
    }
  }
}

// Each third reference is to a large page.
TEST(Tlb, BothLevelsAreThoseOfTheOracle) {
  for (const char* text :
       {"l1=4/1,l2=16/2", "l1=8/full,l2=48/4", "l1=64/full,l2=2048/8",
        "l1-4k=64/4,l1-2m=32/4,l2=1536/12", "l1-4k=16/4,l1-2m=8/full,l2-4k=96/6,l2-2m=32/4",
        "l1=6/3", "l1-4k=16/4,l1-2m=8/4,l2-4k=64/4"}) {
    for (const oracle::Stream& stream : oracle::SmallStreams()) {
      DataTlb tlb(Parsed(text));
      oracle::TimedTlb expected(Parsed(text));
      for (size_t index = 0; index < stream.units.size(); ++index) {
        const bool large = stream.units[index] % 3 == 0;
        ASSERT_EQ(static_cast<int>(tlb.Touch(stream.units[index], large)),
                  expected.Touch(stream.units[index], large))
            << text << ", " << stream.name << ", reference " << index;
      }
    }
  }
}

TEST(Tlb, PagesOfTheSameNumberAndOtherSizesAreNotTheSame) {
  DataTlb tlb(Parsed("l1=4/full,l2=16/4"));
  EXPECT_EQ(tlb.Touch(5, false), TlbHit::kNone);
  EXPECT_EQ(tlb.Touch(5, true), TlbHit::kNone);
  EXPECT_EQ(tlb.Touch(5, false), TlbHit::kFirst);
}

TEST(Tlb, AHitOfTheFirstLevelDoesNotRenewTheSecond) {
  DataTlb tlb(Parsed("l1=2/full,l2=2/full"));
  EXPECT_EQ(tlb.Touch(1, false), TlbHit::kNone);
  EXPECT_EQ(tlb.Touch(2, false), TlbHit::kNone);
  EXPECT_EQ(tlb.Touch(1, false), TlbHit::kFirst);
  EXPECT_EQ(tlb.Touch(3, false), TlbHit::kNone);  // replaces 2 in the first, 1 in the second
  EXPECT_EQ(tlb.Touch(2, false), TlbHit::kSecond);
}

}  // namespace
}  // namespace jprof::cpo
