#include "a2n/span_index.h"

#include <gtest/gtest.h>

#include <random>

namespace jprof::a2n {
namespace {

// The slow, obvious version.
const Span* ByLooking(const std::vector<Span>& spans, uint64_t address, Nanos when) {
  const Span* best = nullptr;
  for (const Span& span : spans) {
    if (span.Holds(address, when) && (best == nullptr || span.since >= best->since)) best = &span;
  }
  return best;
}

TEST(SpanIndexTest, EmptyHasNothing) {
  SpanIndex index;
  EXPECT_EQ(index.Find(1, 1), nullptr);
  index.Add({5, 5, 0, kForever, 1});
  EXPECT_EQ(index.Find(5, 1), nullptr);
}

TEST(SpanIndexTest, BoundsAreLowerIncludedUpperExcluded) {
  SpanIndex index;
  index.Add({10, 20, 100, 200, 7});
  EXPECT_EQ(index.Find(10, 100)->id, 7u);
  EXPECT_EQ(index.Find(19, 199)->id, 7u);
  EXPECT_EQ(index.Find(9, 150), nullptr);
  EXPECT_EQ(index.Find(20, 150), nullptr);
  EXPECT_EQ(index.Find(15, 99), nullptr);
  EXPECT_EQ(index.Find(15, 200), nullptr);
}

TEST(SpanIndexTest, AgreesWithLookingAtAll) {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    SpanIndex index;
    const uint64_t width = 5 + random() % 200;
    for (uint32_t i = 0; i < 300; ++i) {
      Span span{random() % width, 0, random() % 40, kForever, i};
      span.end = span.start + 1 + random() % (1 + width / (1 + random() % 20));
      if (random() % 3 != 0) span.until = span.since + 1 + random() % 20;
      index.Add(span);
      for (int ask = 0; ask < 20; ++ask) {
        const uint64_t address = random() % (2 * width);
        const Nanos when = random() % 50 == 0 ? kForever : random() % 70;
        const Span* expected = ByLooking(index.spans(), address, when);
        ASSERT_EQ(index.Find(address, when), expected)
            << "round " << round << ", " << i << " spans";
      }
    }
  }
}

// A code cache that was filled and emptied repeatedly: a lookup must not examine all spans that
// ever covered the address.
TEST(SpanIndexTest, ManyLoadsAtOneAddressStayCheap) {
  SpanIndex index;
  constexpr uint32_t kLoads = 300'000;
  for (uint32_t i = 0; i < kLoads; ++i) index.Add({1000, 1100, 10 * i, 10 * i + 5, i});
  uint64_t found = 0;
  for (uint32_t i = 0; i < kLoads; ++i) {
    found += index.Find(1050, 10 * i + 4)->id == i;
    found += index.Find(1050, 10 * i + 5) == nullptr;
  }
  EXPECT_EQ(found, 2 * kLoads);
}

}  // namespace
}  // namespace jprof::a2n
