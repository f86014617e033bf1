#include "heap/analysis/paths.h"

#include <gtest/gtest.h>

#include "heap/analysis/names.h"
#include "tests/unit/heap/dump_writer.h"

namespace jprof::heap {
namespace {

constexpr uint64_t kPathThreadClass = 0x10000, kPathBytesClass = 0x10100, kPathPlainClass = 0x10200,
                   kPathThread = 0x20000, kPathBytes = 0x20100, kPathPlain = 0x20200;

DumpWriter PathClasses() {
  DumpWriter dump;
  dump.Class(kPathThreadClass, "java/lang/Thread");
  dump.Class(kPathBytesClass, "[B");
  dump.Class(kPathPlainClass, "app/Plain", 0, {{"bytes", FieldType::kObject}});
  dump.Object(kPathThread, kPathThreadClass, {});
  dump.PrimitiveArray(kPathBytes, FieldType::kByte, {1});
  dump.Object(kPathPlain, kPathPlainClass, {kPathBytes});
  return dump;
}

// Returns the root and the fields of a path to the object: "thread", "local variable".
std::vector<std::string> PathTo(DumpWriter& dump, uint64_t id) {
  const DumpOnDisk file(dump.Finish());
  const auto heap = Load(file.path(), {.keep_references = true});
  EXPECT_TRUE(heap) << heap.error().message;
  std::vector<bool> wanted(heap->nodes());
  wanted[heap->NodeOf(id)] = true;
  const auto path = FindPath(*heap, wanted);
  if (!path) return {};
  std::vector<std::string> texts = {std::string(RootText(path->root))};
  for (const PathStep& step : path->steps) texts.push_back(step.field);
  texts.pop_back();
  return texts;
}

TEST(PathsTest, AnArrayRefersToItsClass) {
  DumpWriter dump = PathClasses();
  dump.Root(SubTag::kRootJniGlobal, kPathPlain);
  EXPECT_EQ(PathTo(dump, kPathBytesClass),
            (std::vector<std::string>{"JNI global reference", "bytes", "its class"}));
}

TEST(PathsTest, ARootOfAThreadIsNotTheRootOfThePath) {
  DumpWriter dump = PathClasses();
  dump.Root(SubTag::kRootJavaFrame, kPathPlain, 1);
  dump.Root(SubTag::kRootThread, kPathThread, 1);
  dump.Root(SubTag::kRootMonitorUsed, kPathPlain);
  EXPECT_EQ(PathTo(dump, kPathBytes), (std::vector<std::string>{"monitor in use", "bytes"}));
}

TEST(PathsTest, ALocalVariableIsOfItsThread) {
  DumpWriter dump = PathClasses();
  dump.Root(SubTag::kRootJavaFrame, kPathPlain, 1);
  dump.Root(SubTag::kRootThread, kPathThread, 1);
  EXPECT_EQ(PathTo(dump, kPathBytes),
            (std::vector<std::string>{"thread", "local variable", "bytes"}));
}

}  // namespace
}  // namespace jprof::heap
