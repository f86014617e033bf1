#include "heap/analysis/groups.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/heap/dump_writer.h"

namespace jprof::heap {
namespace {

constexpr FieldType kGroupRef = FieldType::kObject;
constexpr uint64_t kString = 0x10000, kClassLoader = 0x10100, kLoader = 0x10200, kPlugin = 0x10300,
                   kOtherPlugin = 0x10400, kFirstLoader = 0x20000, kSecondLoader = 0x20100,
                   kName = 0x30000, kHolder = 0x40000, kHeld = 0x40100;

// Returns a heap with two loaders that have the same name and a class of the same name each. An
// object of one class holds one of the other. `moved` is added to the ids of the loaders.
Heap TwoLoaders(uint64_t moved = 0) {
  DumpWriter dump;
  dump.Class(kString, "java/lang/String", 0, {{"value", kGroupRef}, {"coder", FieldType::kByte}});
  dump.Class(kClassLoader, "java/lang/ClassLoader", 0, {{"name", kGroupRef}});
  dump.Class(kLoader, "app/Loader", kClassLoader);
  const std::vector<DumpWriter::Field> fields = {{"next", kGroupRef}};
  dump.Class(kPlugin, "app/Plugin", 0, fields, {}, kFirstLoader + moved);
  dump.Class(kOtherPlugin, "app/Plugin", 0, fields, {}, kSecondLoader + moved);
  dump.Object(kFirstLoader + moved, kLoader, {kName});
  dump.Object(kSecondLoader + moved, kLoader, {kName});
  dump.Instance(kName, kString, {{kName + 0x20, 8}, {0, 1}});
  dump.PrimitiveArray(kName + 0x20, FieldType::kByte, {'p', 'l', 'u', 'g'});
  dump.Object(kHolder, kPlugin, {kHeld});
  dump.Object(kHeld, kOtherPlugin, {0});
  dump.Root(SubTag::kRootJniGlobal, kHolder);
  const DumpOnDisk file(dump.Finish());
  auto heap = Load(file.path(), {});
  EXPECT_TRUE(heap) << heap.error().message;
  return *std::move(heap);
}

std::vector<GroupSum> Named(const Heap& heap, const Grouping& grouping, std::string_view name) {
  std::vector<GroupSum> sums = SumGroups(heap, DominatorChildren(heap.tree), grouping);
  std::erase_if(sums, [&](const GroupSum& sum) { return !sum.name.starts_with(name); });
  return sums;
}

TEST(GroupsTest, ClassesOfTheSameNameAreOneGroupForTwoDumps) {
  const Heap heap = TwoLoaders();
  EXPECT_EQ(Named(heap, ByClass(heap), "app.Plugin").size(), 2u);
  const std::vector<GroupSum> plugins = Named(heap, ByClassName(heap), "app.Plugin");
  ASSERT_EQ(plugins.size(), 1u);
  EXPECT_EQ(plugins[0].objects, 2u);
  EXPECT_EQ(plugins[0].retained, heap.RetainedBy(heap.NodeOf(kHolder)));  // the other one once
}

TEST(GroupsTest, LoadersHaveTheSameNameInAnotherDump) {
  for (const uint64_t moved : {0, 0x1000}) {
    const Heap heap = TwoLoaders(moved);
    EXPECT_EQ(Named(heap, ByLoader(heap), "app.Loader 0x").size(), 2u);
    const std::vector<GroupSum> loaders = Named(heap, ByLoaderName(heap), "app.Loader");
    ASSERT_EQ(loaders.size(), 1u);
    EXPECT_EQ(loaders[0].name, "app.Loader \"plug\"");
    EXPECT_EQ(loaders[0].objects, 4u);  // with the classes themselves
  }
}

}  // namespace
}  // namespace jprof::heap
