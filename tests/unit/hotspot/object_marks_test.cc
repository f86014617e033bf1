// Numbers in mark words, with the layouts of JDK 17 and of JDK 24 and later.
#include "jprof/hotspot/objects/object_marks.h"

#include <gtest/gtest.h>

#include <set>

#include "common/random.h"

namespace jprof::hotspot {
namespace {

constexpr MarkLayout kLayouts[] = {{8, 31}, {11, 31}};
constexpr uint64_t kHashMask = (uint64_t{1} << 31) - 1;

uint64_t MarkedWith(const ObjectMarks& marks, uint64_t bits, uint64_t random) {
  uint64_t object[2] = {1, 7};
  marks.Mark(reinterpret_cast<uint64_t>(object), bits, random);
  EXPECT_EQ(object[1], 7u) << "the rest of the object is as it was";
  return object[0];
}

TEST(ObjectMarks, ANumberIsReadAsItWasWritten) {
  for (const MarkLayout& layout : kLayouts) {
    const ObjectMarks marks(layout);
    uint64_t random = 42;
    for (uint32_t number = 1; number < 1u << 27; number += 1 + number / 7) {
      const uint64_t bits = marks.BitsOf(number);
      if (number % (1u << layout.unused_bits()) == 0) {
        EXPECT_EQ(bits, 0u) << "would look like a hash alone";
        continue;
      }
      const uint64_t mark = MarkedWith(marks, bits, NextRandom(random));
      EXPECT_EQ(marks.NumberIn(mark), number);
      EXPECT_EQ(mark & 7, 1u) << "unlocked";
      EXPECT_NE(mark >> layout.hash_shift & kHashMask, 0u) << "with a hash";
    }
  }
}

TEST(ObjectMarks, ANumberThatIsTooLongHasNoBits) {
  EXPECT_EQ(ObjectMarks({11, 31}).BitsOf((1u << 27) + 1), 0u);
  EXPECT_NE(ObjectMarks({11, 31}).BitsOf((1u << 27) - 1), 0u);
}

TEST(ObjectMarks, AHashOfTheJvmIsNoNumber) {
  for (const MarkLayout& layout : kLayouts) {
    const ObjectMarks marks(layout);
    EXPECT_EQ(marks.NumberIn(1), 0u);
    EXPECT_EQ(marks.NumberIn(kHashMask << layout.hash_shift | 1), 0u);
  }
}

TEST(ObjectMarks, TheThreadOfABiasedLockIsNoNumber) {
  const ObjectMarks marks(kLayouts[0]);
  EXPECT_EQ(marks.NumberIn(0x00007f1234567805), 0u);
  EXPECT_EQ(marks.NumberIn(0xfffffffffffff905), 0u);
}

TEST(ObjectMarks, HashesAreRandomAndNever0) {
  const ObjectMarks marks(kLayouts[0]);
  const uint64_t bits = marks.BitsOf(5);
  std::set<uint64_t> hashes;
  uint64_t random = 1;
  for (int i = 0; i < 1000; ++i)
    hashes.insert(MarkedWith(marks, bits, NextRandom(random)) >> 8 & kHashMask);
  EXPECT_GT(hashes.size(), 990u);
  EXPECT_NE(MarkedWith(marks, bits, 0) >> 8 & kHashMask, 0u);
}

}  // namespace
}  // namespace jprof::hotspot
