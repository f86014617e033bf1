// `jprof heap --profile`: the objects of a dump beside those that a profile has counted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "reports/heap/allocation_table.h"
#include "tests/unit/heap/dump_writer.h"
#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLoaded = 0x10000, kLoadedAgain = 0x10100, kObjects = 0x20000;

// Returns a heap with two classes of one name: of two loaders, with three objects together that can
// be reached, and with one that is garbage.
heap::Heap TwoClasses() {
  heap::DumpWriter dump;
  dump.Class(kLoaded, "Demo$Point");
  dump.Class(kLoadedAgain, "Demo$Point", 0, {}, {}, kObjects);
  for (uint64_t i = 0; i < 4; ++i) {
    dump.Object(kObjects + 16 * i, i < 2 ? kLoaded : kLoadedAgain, {});
    if (i < 3) dump.Root(heap::SubTag::kRootJniGlobal, kObjects + 16 * i);
  }
  const heap::DumpOnDisk file(dump.Finish());
  auto heap = heap::Load(file.path(), {});
  EXPECT_TRUE(heap) << heap.error().message;
  return *std::move(heap);
}

TEST(HeapAllocations, CountLiveObjectsOfClassesOfTheSameNameOnce) {
  const fs::path directory =
      fs::path(testing::TempDir()) / ("allocations-" + std::to_string(getpid()) + ".jprof");
  DemoObjects().Write(directory);
  auto reader = profile::Reader::Open(directory);
  ASSERT_TRUE(reader);
  model::Source source{std::move(*reader), {}, "", "no table"};
  auto forest = model::LoadForest(source, {});
  ASSERT_TRUE(forest);
  const heap::Heap heap = TwoClasses();
  const heap::DominatorChildren children(heap.tree);
  const auto text = PrintedText([&](Output& out) {
    return PrintAllocations({heap, children, {}}, *forest, "Demo$Point", {.format = Format::kCsv},
                            out);
  });
  fs::remove_all(directory);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->substr(0, text->find('\n', text->find('\n') + 1) + 1),
            "live_objects,live_bytes,allocated_objects,allocated_bytes,class,context\n"
            "3,48,102,2448,Demo$Point,\n");
  EXPECT_EQ(std::ranges::count(*text, '\n'), 4);  // and two contexts
}

}  // namespace
}  // namespace jprof::reports
