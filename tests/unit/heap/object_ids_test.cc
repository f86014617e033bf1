#include "heap/graph/object_ids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace jprof::heap {
namespace {

LazyArray<uint64_t> ArrayOf(const std::vector<uint64_t>& ids) {
  LazyArray<uint64_t> array(ids.size());
  std::ranges::copy(ids, array.begin());
  return array;
}

void ExpectAsMap(const std::vector<uint64_t>& ids) {
  const ObjectIds found(ArrayOf(ids), static_cast<uint32_t>(ids.size()));
  std::map<uint64_t, uint32_t> numbers;
  for (uint32_t i = 0; i < ids.size(); ++i) numbers.try_emplace(ids[i], i);
  EXPECT_EQ(found.duplicates(), ids.size() - numbers.size());
  for (const auto& [id, number] : numbers) {
    EXPECT_EQ(found.Find(id), number) << id;
    for (const uint64_t other : {id + 1, id - 1, id + 8, id ^ (uint64_t{1} << 40)})
      EXPECT_EQ(found.Find(other).has_value(), numbers.contains(other)) << other;
  }
  uint32_t visited = 0;
  found.ForEachInOrder([&](uint64_t id, uint32_t number) {
    EXPECT_EQ(numbers.at(id), number);
    ++visited;
  });
  EXPECT_EQ(visited, numbers.size());
}

TEST(ObjectIdsTest, AreFoundInDenseAndSparseHeaps) {
  for (const uint64_t step : {8u, 24u, 4096u, 1u << 20}) {
    std::vector<uint64_t> ids;
    for (uint64_t i = 0; i < 5000; ++i) ids.push_back(0x700000000 + i * step + i % 3 * 8);
    std::ranges::sort(ids);
    ExpectAsMap(ids);
  }
}

TEST(ObjectIdsTest, AreFoundInAnyOrderAlignedOrNot) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const int shift = static_cast<int>(random() % 60);
    std::vector<uint64_t> ids;
    for (int i = 0; i < 3000; ++i) ids.push_back(random() >> shift);
    ExpectAsMap(ids);
  }
}

TEST(ObjectIdsTest, OfNoObjects) {
  const ObjectIds none(LazyArray<uint64_t>(), 0);
  EXPECT_FALSE(none.Find(0));
}

}  // namespace
}  // namespace jprof::heap
