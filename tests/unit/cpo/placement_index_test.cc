#include "cpo/model/placement_index.h"

#include <gtest/gtest.h>

#include "tests/unit/cpo/oracle.h"

namespace jprof::cpo {
namespace {

uint32_t FindAt(std::span<const Placement> placements, uint64_t time_ns, uint64_t address) {
  PlacementCursor cursor(placements);
  cursor.MoveTo(time_ns);
  return cursor.Find(address).placement;
}

TEST(PlacementIndex, APlacementHasBoundsAndALife) {
  const Placement placements[] = {{100, 50, 10, 20, 0}};
  EXPECT_EQ(FindAt(placements, 10, 100), 0u);
  EXPECT_EQ(FindAt(placements, 19, 149), 0u);
  EXPECT_EQ(FindAt(placements, 9, 100), kNoPlacement);
  EXPECT_EQ(FindAt(placements, 20, 100), kNoPlacement);
  EXPECT_EQ(FindAt(placements, 10, 99), kNoPlacement);
  EXPECT_EQ(FindAt(placements, 10, 150), kNoPlacement);
}

TEST(PlacementIndex, AnAddressIsUsedAgain) {
  const Placement placements[] = {{100, 50, 0, 10, 0}, {100, 50, 10, 20, 1}};
  EXPECT_EQ(FindAt(placements, 9, 120), 0u);
  EXPECT_EQ(FindAt(placements, 10, 120), 1u);
}

TEST(PlacementIndex, TheInnermostIsFound) {
  const Placement placements[] = {
      {0, 1000, 0, 100, 0}, {100, 50, 10, 20, 1}, {0, 10, 30, 40, 2}, {900, 100, 30, 40, 3}};
  EXPECT_EQ(FindAt(placements, 15, 120), 1u);
  EXPECT_EQ(FindAt(placements, 15, 160), 0u);
  EXPECT_EQ(FindAt(placements, 25, 120), 0u);
  EXPECT_EQ(FindAt(placements, 35, 5), 2u);
  EXPECT_EQ(FindAt(placements, 35, 10), 0u);
  EXPECT_EQ(FindAt(placements, 35, 999), 3u);
}

TEST(PlacementIndex, EmptyOnesAreNeverFound) {
  const Placement placements[] = {{100, 0, 0, 100, 0}, {100, 10, 5, 5, 1}};
  EXPECT_EQ(FindAt(placements, 5, 100), kNoPlacement);
}

TEST(PlacementIndex, TheEndOfTheAddressesDoesNotOverflow) {
  const Placement placements[] = {{~uint64_t{0} - 10, ~uint64_t{0}, 0, 9, 0}};
  EXPECT_EQ(FindAt(placements, 1, ~uint64_t{0} - 1), 0u);
  EXPECT_EQ(FindAt(placements, 1, 5), kNoPlacement);
}

// Halves of halves of a range, so that placements are nested or disjoint, with random lives.
std::vector<Placement> RandomPlacements(uint64_t& state) {
  std::vector<Placement> placements;
  for (uint32_t number = 0; number < 60; ++number) {
    const uint64_t size = uint64_t{1024} >> NextRandom(state) % 8;
    const uint64_t from = NextRandom(state) % 100;
    placements.push_back({NextRandom(state) % (1024 / size) * size, size, from,
                          from + NextRandom(state) % 50, number});
  }
  return placements;
}

// The smallest that contains the address; of two equal ones either.
uint64_t SmallestAt(const std::vector<Placement>& placements, uint64_t time, uint64_t address) {
  uint64_t smallest = ~uint64_t{0};
  for (const Placement& placement : placements) {
    const bool inside = address >= placement.start && address - placement.start < placement.size;
    const bool alive = time >= placement.from_ns && time < placement.to_ns;
    if (inside && alive) smallest = std::min(smallest, placement.size);
  }
  return smallest;
}

// Leaves out placements that are alive at the same time and equal.
std::vector<Placement> WithoutEqual(const std::vector<Placement>& placements) {
  std::vector<Placement> kept;
  for (const Placement& placement : placements) {
    const bool equal = std::ranges::any_of(kept, [&](const Placement& other) {
      return other.start == placement.start && other.size == placement.size &&
             other.from_ns < placement.to_ns && placement.from_ns < other.to_ns;
    });
    if (!equal) kept.push_back(placement);
  }
  return kept;
}

TEST(PlacementIndex, FindsWhatASearchThroughAllFinds) {
#ifdef JPROF_SANITIZED
  GTEST_SKIP() << "one thread only, and half a minute with a sanitizer";
#endif
  uint64_t state = 7;
  for (int round = 0; round < 50; ++round) {
    const std::vector<Placement> placements = WithoutEqual(RandomPlacements(state));
    PlacementCursor cursor(placements);
    uint64_t time = 0;
    for (int lookup = 0; lookup < 2000; ++lookup) {
      time = lookup % 500 == 499 ? NextRandom(state) % 150 : time + NextRandom(state) % 2;
      const uint64_t address = NextRandom(state) % 1100;
      cursor.MoveTo(time);
      const Place place = cursor.Find(address);
      const uint64_t found =
          place.placement == kNoPlacement ? ~uint64_t{0} : placements[place.placement].size;
      ASSERT_EQ(found, SmallestAt(placements, time, address)) << time << ", " << address;
      ASSERT_LE(place.from, address);
      ASSERT_GT(place.to, address);
      for (uint64_t other = place.from; other < std::min<uint64_t>(place.to, 1100); ++other) {
        ASSERT_EQ(cursor.Find(other).placement, place.placement) << other;
      }
    }
  }
}

}  // namespace
}  // namespace jprof::cpo
