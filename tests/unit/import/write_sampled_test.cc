// What is written of samples, read back: values, threads, losses, names that are too long.
#include <gtest/gtest.h>

#include <numeric>

#include "profile/import/importer.h"
#include "profile/read/reader.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::profile {
namespace {

TEST(WriteSampled, IsReadBack) {
  const TemporaryDirectory directory("import");
  const std::string path = directory.path() / "p.jprof";
  SampleTree tree;
  const std::string longest(0x10010, 'x');
  const MethodId main = tree.AddMethod({"A", "main", "()V", kMethodStatic});
  const MethodId deep = tree.AddMethod({"B", longest, "()V", 0});
  EXPECT_EQ(tree.AddMethod({"A", "main", "()V", kMethodStatic}), main);
  const uint32_t thread = tree.AddThread({.name = "main", .tid = 7});
  EXPECT_EQ(tree.AddThread({.name = "main", .tid = 7}), thread);
  const ForeignFrame stack[] = {{deep, FrameKind::kRejitted, tree.AddSite("B.java", 3, 42)},
                                {main, FrameKind::kInterpreted}};
  tree.Add(thread, stack, {.value = 5, .count = 5});
  tree.Add(thread, stack, {.value = 2, .count = 2, .is_cut = true});
  tree.AddLost(thread, 3);
  ForeignRun run = {.start_unix_ns = 1'000'000'000, .duration_ns = 2'000'000'000};
  run.meta.metrics = {SamplesMetric(10'000'000, Period::Clock::kCpu)};
  run.imported = {.format = "jfr", .version = "2.1", .file = "a\x1b", .notes = {"note"}};
  ASSERT_TRUE(WriteSampled(tree, run, path));

  auto reader = Reader::Open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(reader->meta().is(Mode::kScs));
  EXPECT_EQ(reader->meta().metrics, run.meta.metrics);
  const auto read = reader->ReadTree();
  ASSERT_TRUE(read);
  EXPECT_EQ(std::accumulate(read->metrics[0].begin(), read->metrics[0].end(), int64_t{0}), 7);
  const Methods methods = reader->ReadMethods();
  EXPECT_EQ(methods[main].name, "main");
  EXPECT_EQ(methods[deep].name.size(), 0xffffu);
  ASSERT_EQ(reader->threads().size(), 1u);
  const ThreadRecord& record = reader->threads()[0].record;
  EXPECT_EQ(record.samples, 7u);
  EXPECT_EQ(record.samples_truncated, 2u);
  EXPECT_EQ(record.samples_lost, 3u);
  EXPECT_EQ(reader->header().finished, 1u);
  EXPECT_TRUE(reader->damages().Lines().empty());
  const auto imported = ReadImported(path);
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->Text(), "a?: jfr 2.1");
  EXPECT_EQ(imported->notes, run.imported.notes);
  EXPECT_FALSE(WriteSampled(tree, run, path));  // there is one already
  EXPECT_TRUE(ReadImported(path)) << "and it is left alone";
}

TEST(WriteSampled, ADamagedDescriptionIsNoError) {
  EXPECT_EQ(ParseImported("{").format, "unknown");
  EXPECT_EQ(ParseImported(R"({"format":7,"notes":["a",8]})").notes.size(), 2u);
  EXPECT_FALSE(ReadImported("/nowhere"));
}

}  // namespace
}  // namespace jprof::profile
