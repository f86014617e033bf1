#include "heap/analysis/tree_cut.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/heap/dump_writer.h"

namespace jprof::heap {
namespace {

constexpr uint64_t kCutObject = 0x10000, kCutNode = 0x10100, kCutArray = 0x10200,
                   kCutFirst = 0x20000;
using Kind = TreeRow::Kind;

DumpWriter CutClasses() {
  DumpWriter dump;
  dump.Class(kCutObject, "java/lang/Object");
  dump.Class(kCutNode, "app/Node", kCutObject,
             {{"next", FieldType::kObject}, {"value", FieldType::kObject}});
  dump.Class(kCutArray, "[Ljava/lang/Object;", kCutObject);
  for (const uint64_t id : {kCutObject, kCutNode, kCutArray})
    dump.Root(SubTag::kRootStickyClass, id);
  return dump;
}

Heap LoadedToCut(std::string_view bytes) {
  const DumpOnDisk file(bytes);
  auto heap = Load(file.path(), {});
  EXPECT_TRUE(heap) << heap.error().message;
  return *std::move(heap);
}

// Expects that each row comes after the row above it, that its bytes and those of all rows below it
// are what it retains, and that all rows together are the live objects.
void ExpectToAddUp(const Heap& heap, const TreeCut& cut, size_t most_rows) {
  std::vector<uint64_t> retained(cut.rows.size());
  uint64_t bytes = 0, objects = 0;
  size_t shown = 0;
  for (size_t i = cut.rows.size(); i-- > 0;) {
    const TreeRow& row = cut.rows[i];
    retained[i] += row.bytes;
    bytes += row.bytes;
    objects += row.objects;
    if (row.parent != kNone) {
      ASSERT_LT(row.parent, i);
      retained[row.parent] += retained[i];
    }
    if (row.kind == Kind::kObject) {
      EXPECT_EQ(retained[i], heap.RetainedBy(row.node));
    }
    if (row.kind != Kind::kOthers) {
      ++shown;
      EXPECT_GE(retained[i], cut.least);
      EXPECT_EQ(row.objects, row.joined);
    }
  }
  EXPECT_EQ(bytes, heap.tree.size * Heap::kUnit);
  EXPECT_EQ(objects, heap.tree.reachable);
  EXPECT_LE(shown, most_rows);
}

// An array with 100 nodes, each of which holds another node.
std::string ArrayOfPairs() {
  DumpWriter dump = CutClasses();
  std::vector<uint64_t> elements;
  for (uint64_t i = 0; i < 100; ++i) elements.push_back(kCutFirst + 0x1000 + 48 * i);
  dump.ObjectArray(kCutFirst, kCutArray, elements);
  for (const uint64_t id : elements) {
    dump.Object(id, kCutNode, {id + 24, 0});
    dump.Object(id + 24, kCutNode, {0, 0});
  }
  dump.Root(SubTag::kRootJniGlobal, kCutFirst);
  return dump.Finish();
}

TEST(TreeCutTest, SmallObjectsOfAClassAreOneRow) {
  const Heap heap = LoadedToCut(ArrayOfPairs());
  const DominatorChildren children(heap.tree);
  const TreeCut cut = CutTree(heap, children, {.share = 0.3, .rows = 100});
  ASSERT_EQ(cut.rows.size(), 4u);
  EXPECT_EQ(cut.rows[0].node, heap.NodeOf(kCutFirst));
  const TreeRow& outer = cut.rows[1];
  EXPECT_EQ(outer.kind, Kind::kObjects);
  EXPECT_EQ(outer.parent, 0u);
  EXPECT_EQ(outer.joined, 100u);
  EXPECT_EQ(outer.bytes, 2400u);
  const TreeRow& inner = cut.rows[2];  // what they hold
  EXPECT_EQ(inner.kind, Kind::kObjects);
  EXPECT_EQ(inner.parent, 1u);
  EXPECT_EQ(inner.joined, 100u);
  const TreeRow& classes = cut.rows[3];
  EXPECT_EQ(classes.kind, Kind::kOthers);
  EXPECT_EQ(classes.parent, kNone);
  EXPECT_EQ(classes.joined, 3u);
  ExpectToAddUp(heap, cut, 100);
}

constexpr uint64_t kNodes = 5000;

std::string List() {
  DumpWriter dump = CutClasses();
  for (uint64_t i = 0; i < kNodes; ++i)
    dump.Object(kCutFirst + i * 24, kCutNode, {i + 1 == kNodes ? 0 : kCutFirst + (i + 1) * 24, 0});
  dump.Root(SubTag::kRootJniGlobal, kCutFirst);
  return dump.Finish();
}

TEST(TreeCutTest, AListIsCutAtTheNumberOfLevels) {
  const Heap heap = LoadedToCut(List());
  const DominatorChildren children(heap.tree);
  const TreeCut cut = CutTree(heap, children, {.share = 0.01, .rows = 1000, .levels = 10});
  ExpectToAddUp(heap, cut, 10);
  ASSERT_EQ(cut.rows.size(), 12u);
  EXPECT_LT(cut.least, 0.011 * 24 * kNodes);
  const TreeRow& rest = cut.rows[10];
  EXPECT_EQ(rest.kind, Kind::kOthers);
  EXPECT_EQ(rest.parent, 9u);
  EXPECT_EQ(rest.joined, 1u);
  EXPECT_EQ(rest.objects, kNodes - 10);
}

TEST(TreeCutTest, AListIsCutAtTheNumberOfRows) {
  const Heap heap = LoadedToCut(List());
  const DominatorChildren children(heap.tree);
  const TreeCut cut = CutTree(heap, children, {.share = 0, .rows = 50, .levels = 1000});
  ExpectToAddUp(heap, cut, 50);
  EXPECT_GE(cut.least, 24 * (kNodes - 50));
  EXPECT_EQ(cut.rows[49].kind, Kind::kObject);
  EXPECT_EQ(cut.rows[49].parent, 48u);
}

TEST(TreeCutTest, RowsAddUpInRandomHeaps) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    DumpWriter dump = CutClasses();
    const uint64_t objects = 1 + random() % 300;
    const auto any = [&]() { return kCutFirst + 64 * (random() % objects); };
    for (uint64_t i = 0; i < objects; ++i) {
      const uint64_t id = kCutFirst + 64 * i;
      random() % 2 == 0 ? dump.Object(id, kCutNode, {any(), any()})
                        : dump.ObjectArray(id, kCutArray, {any(), any(), any()});
      if (random() % 20 == 0) dump.Root(SubTag::kRootJniGlobal, id);
    }
    const Heap heap = LoadedToCut(dump.Finish());
    const DominatorChildren children(heap.tree);
    for (const double share : {0.0, 0.002, 0.05, 0.3, 2.0}) {
      for (const size_t rows : {0, 1, 7, 1000})
        ExpectToAddUp(heap, CutTree(heap, children, {share, rows}), rows);
    }
  }
}

}  // namespace
}  // namespace jprof::heap
