#include "heap/analysis/largest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/heap/dump_writer.h"

namespace jprof::heap {
namespace {

constexpr uint64_t kLargestType = 0x10000, kLargestFirst = 0x20000;

// Returns a heap of nodes; the dominator of node i is node parents[i], or none if that is i.
Heap Forest(const std::vector<uint64_t>& parents) {
  DumpWriter dump;
  dump.Class(kLargestType, "[Ljava/lang/Object;");
  dump.Root(SubTag::kRootStickyClass, kLargestType);
  for (uint64_t i = 0; i < parents.size(); ++i) {
    std::vector<uint64_t> children;
    for (uint64_t child = i + 1; child < parents.size(); ++child)
      if (parents[child] == i) children.push_back(kLargestFirst + child * 0x1000);
    dump.ObjectArray(kLargestFirst + i * 0x1000, kLargestType, children);
    if (parents[i] == i) dump.Root(SubTag::kRootJniGlobal, kLargestFirst + i * 0x1000);
  }
  const DumpOnDisk file(dump.Finish());
  auto heap = Load(file.path(), {});
  EXPECT_TRUE(heap) << heap.error().message;
  return *std::move(heap);
}

LargestObjects Largest(const Heap& heap, uint32_t levels, uint64_t most) {
  return FindLargest(heap, DominatorChildren(heap.tree), levels, most);
}

TEST(LargestTest, EqualObjectsAreShownUpToTheLimit) {
  const Heap heap = Forest({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const uint64_t most : {1, 3, 10}) {
    const LargestObjects largest = Largest(heap, 5, most);
    EXPECT_EQ(largest.objects.size(), most);
    EXPECT_EQ(largest.left_out, 11 - most);  // with the class
  }
  EXPECT_EQ(Largest(heap, 5, 0).objects.size(), 11u);
}

TEST(LargestTest, LevelsAreLimited) {
  const Heap heap = Forest({0, 0, 1, 2, 3});
  const LargestObjects largest = Largest(heap, 2, 100);
  ASSERT_EQ(largest.objects.size(), 3u);  // with the class
  EXPECT_EQ(largest.left_out, 0u);
  EXPECT_EQ(largest.objects[1].depth, 1u);
}

// The slow, obvious way: all objects sorted by what they retain.
TEST(LargestTest, AreThoseOfASortInRandomHeaps) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<uint64_t> parents;
    for (uint64_t i = 0; i < 60; ++i) parents.push_back(random() % 4 == 0 ? i : random() % (i + 1));
    const Heap heap = Forest(parents);
    std::vector<uint64_t> sorted;
    for (const LargeObject& one : Largest(heap, 100, 0).objects)
      sorted.push_back(heap.RetainedBy(one.node));
    ASSERT_EQ(sorted.size(), heap.tree.reachable);
    std::ranges::sort(sorted, std::greater());
    for (const size_t most : {1, 7, 30}) {
      const LargestObjects largest = Largest(heap, 100, most);
      std::vector<uint64_t> retained;
      std::vector<uint32_t> above;  // the object and its dominators
      for (const auto& [node, depth] : largest.objects) {
        ASSERT_LE(depth, above.size());
        if (depth < above.size()) {
          EXPECT_GE(heap.RetainedBy(above[depth]), heap.RetainedBy(node));  // the sibling before
        }
        above.resize(depth);
        EXPECT_EQ(heap.tree.dominator[node], above.empty() ? kRoot : above.back());
        above.push_back(node);
        retained.push_back(heap.RetainedBy(node));
      }
      std::ranges::sort(retained, std::greater());
      EXPECT_EQ(retained, std::vector(sorted.begin(), sorted.begin() + static_cast<int>(most)));
      EXPECT_EQ(largest.left_out, sorted.size() - most);
    }
  }
}

}  // namespace
}  // namespace jprof::heap
