#include "heap/analysis/collections.h"

#include <gtest/gtest.h>

#include "tests/unit/heap/dump_writer.h"

namespace jprof::heap {
namespace {

constexpr FieldType kMapRef = FieldType::kObject;
constexpr uint64_t kMapClass = 0x10000, kTableClass = 0x10100, kCellClass = 0x10200,
                   kCellsClass = 0x10300, kMaps = 0x20000, kFirstCell = 0x30000;

// Returns the sums of a ConcurrentHashMap with this count and cells with these values.
CollectionSum SumOf(uint64_t count, const std::vector<uint64_t>& values) {
  DumpWriter dump;
  dump.Class(kMapClass, "java/util/concurrent/ConcurrentHashMap", 0,
             {{"table", kMapRef}, {"baseCount", FieldType::kLong}, {"counterCells", kMapRef}});
  dump.Class(kTableClass, "[Ljava/util/concurrent/ConcurrentHashMap$Node;");
  dump.Class(kCellClass, "java/util/concurrent/ConcurrentHashMap$CounterCell", 0,
             {{"value", FieldType::kLong}});
  dump.Class(kCellsClass, "[Ljava/util/concurrent/ConcurrentHashMap$CounterCell;");
  const uint64_t cells = values.empty() ? 0 : kMaps + 0x200;
  dump.Instance(kMaps, kMapClass, {{kMaps + 0x100, 8}, {count, 8}, {cells, 8}});
  dump.ObjectArray(kMaps + 0x100, kTableClass, std::vector<uint64_t>(16));
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < values.size(); ++i) {
    ids.push_back(kFirstCell + 0x100 * i);
    dump.Instance(ids.back(), kCellClass, {{values[i], 8}});
  }
  ids.push_back(0);
  if (cells != 0) dump.ObjectArray(cells, kCellsClass, ids);
  dump.Root(SubTag::kRootJniGlobal, kMaps);
  const DumpOnDisk file(dump.Finish());
  const auto heap = Load(file.path(), {});
  EXPECT_TRUE(heap) << heap.error().message;
  const std::vector<CollectionSum> sums = SumCollections(*heap, {});
  EXPECT_EQ(sums.size(), 1u);
  return sums.empty() ? CollectionSum() : sums[0];
}

TEST(CollectionsTest, AConcurrentHashMapCountsInCells) {
  EXPECT_EQ(SumOf(7, {}).elements, 7u);
  EXPECT_EQ(SumOf(2, {3, 4}).elements, 9u);
  const CollectionSum negative = SumOf(UINT64_MAX, {3, UINT64_MAX - 1, 5});  // -1 + 3 - 2 + 5
  EXPECT_EQ(negative.elements, 5u);
  EXPECT_EQ(negative.used, 5u);
  EXPECT_EQ(SumOf(UINT64_MAX, {1}).empty, 1u);
}

}  // namespace
}  // namespace jprof::heap
