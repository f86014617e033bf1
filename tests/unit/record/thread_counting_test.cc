#include "record/count/thread_counting.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "record/count/thread_watch.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

TEST(ProcessTree, HasTheDescendantsOnly) {
  std::string made = (fs::temp_directory_path() / "jprof-tree-XXXXXX").string();
  const fs::path proc = mkdtemp(made.data());
  for (const auto& [pid, parent] :
       {std::pair{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 1}, {6, 2}, {7, 7}}) {
    fs::create_directory(proc / std::to_string(pid));
    std::ofstream(proc / std::to_string(pid) / "status") << "PPid:\t" << parent << "\n";
  }
  EXPECT_EQ(ProcessTree(2, proc), (std::set<uint32_t>{2, 3, 4, 6}));
  EXPECT_EQ(ProcessTree(5, proc), (std::set<uint32_t>{5}));
  EXPECT_EQ(ProcessTree(7, proc), (std::set<uint32_t>{7}));
  EXPECT_EQ(ProcessTree(99, proc), (std::set<uint32_t>{99}));
  fs::remove_all(proc);
}

TEST(PrintableName, IsAscii) {
  EXPECT_EQ(PrintableName("a b~"), "a b~");
  EXPECT_EQ(PrintableName("a\nb\x7f\xc3\xa4"), "a?b???");
  EXPECT_EQ(PrintableName(""), "?");
}

std::vector<ptm::CheckedMetric> Metrics() {
  return {
      {"EVENT", ptm::EventSpec()}, {"time", {}}, {"OTHER", ptm::EventSpec()}, {"dispatches", {}}};
}

TEST(CountsBetween, AreInTheOrderOfTheMetrics) {
  ptm::ThreadAccount before, now;
  before.dispatches = 10;
  before.nanos = 100;
  before.counts = {1, 2};
  now.dispatches = 13;
  now.nanos = 150;
  now.counts = {8, 22};
  EXPECT_EQ(CountsBetween(Metrics(), before, now), (std::vector<double>{7, 50, 20, 3}));
}

TEST(PutDispatchesFirst, OnceWhetherOrNotRequested) {
  auto metrics = Metrics();
  for (int times = 0; times < 2; ++times) {
    PutDispatchesFirst(metrics);
    ASSERT_EQ(metrics.size(), 4u);
    EXPECT_EQ(metrics[0].name, "dispatches");
    EXPECT_EQ(metrics[1].name, "EVENT");
  }
  metrics = {{"time", {}}};
  PutDispatchesFirst(metrics);
  EXPECT_EQ(metrics.size(), 2u);
}

CountTable Table() {
  CountTable table = {.metrics = {{"perf::cycles:u", ptm::EventSpec()}, {"time", {}}}};
  table.rows = {{.tid = 3, .name = "b", .counts = {1, 5}},
                {.tid = 2, .name = "a", .counts = {9, 5}},
                {.tid = 1, .name = "b", .counts = {2, 7}}};
  return table;
}

TEST(CountTable, FindsMetricsByTheirPlainName) {
  EXPECT_EQ(FindMetric(Table(), {"CYCLES"}), 0u);
  EXPECT_EQ(FindMetric(Table(), {"INSTRUCTIONS", "TIME"}), 1u);
  EXPECT_EQ(FindMetric(Table(), {"cycles"}), std::nullopt);
}

TEST(CountTable, IsSortedByTimeThenThread) {
  CountTable table = Table();
  SortByTime(table);
  EXPECT_EQ(table.rows[0].tid, 1u);
  EXPECT_EQ(table.rows[1].tid, 2u);
  EXPECT_EQ(table.rows[2].tid, 3u);
  table.metrics[1].name = "faults";  // without time, sorted by the first metric
  SortByTime(table);
  EXPECT_EQ(table.rows[0].tid, 2u);
}

TEST(CountTable, ThreadsOfOneNameAreSummedUp) {
  CountTable table = Table();
  SumByName(table);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].name, "a");
  EXPECT_EQ(table.rows[1].threads, 2u);
  EXPECT_EQ(table.rows[1].counts, (std::vector<double>{3, 12}));
  EXPECT_TRUE(table.by_name);
}

}  // namespace
}  // namespace jprof::record
