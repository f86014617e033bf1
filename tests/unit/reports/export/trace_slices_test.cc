#include "reports/export/trace_slices.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/reports/export/exported.h"

namespace jprof::reports {
namespace {

using enum Slice::Kind;

profile::SyntheticProfile Traced(profile::SyntheticProfile made) {
  made.meta.replace(made.meta.find("callflow"), 8, "trace");
  return made;
}

TEST(TraceSlices, AreBalancedInOrderAndAsLongAsTheTrace) {
  const ExportFolder folder;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    model::Source source =
        Opened(folder.Write(Traced(RandomProfile(seed, 3, 20'000, true))), DemoTable(seed));
    std::vector<int> depth(3);
    std::vector<uint64_t> last(3);
    const auto totals = VisitSlices(source, [&](const Slice& slice) {
      EXPECT_GE(slice.ns, last[slice.thread]);
      last[slice.thread] = slice.ns;
      depth[slice.thread] += slice.kind == kBegin ? 1 : -1;
      EXPECT_GE(depth[slice.thread], 0);
      EXPECT_EQ(slice.name.empty(), slice.kind != kBegin);
      return true;
    });
    ASSERT_TRUE(totals);
    EXPECT_EQ(totals->events, 20'000u);
    EXPECT_EQ(totals->missing + totals->unmatched, 0u);
    EXPECT_EQ(depth, std::vector<int>(3));
    EXPECT_GT(totals->open, 0u);
  }
}

TEST(TraceSlices, BeginWhenTheThreadBegan) {
  const ExportFolder folder;
  profile::SyntheticProfile made;
  made.with_trace = true;
  const profile::MethodId method = made.AddMethod("A", "m", "()V");
  const size_t thread = made.AddThread("late", 7);
  made.threads[thread].start_ticks = made.header.start_ticks + 5000;
  made.Enter(thread, method, FrameKind::kRejitted, 30);
  made.Exit(thread, 12);
  model::Source source = Opened(folder.Write(Traced(made)));
  std::vector<uint64_t> times;
  ASSERT_TRUE(VisitSlices(source, [&](const Slice& slice) {
    times.push_back(slice.ns);
    return true;
  }));
  EXPECT_EQ(times, (std::vector<uint64_t>{5030, 5042}));
}

// Blocks of a trace that wrapped: the first ones are gone.
TEST(TraceSlices, MissingEventsEndWhatIsOpenAndKeepTheTime) {
  const ExportFolder folder;
  profile::SyntheticProfile made = Traced(RandomProfile(2, 1, 60'000, true));
  const auto directory = folder.Write(made);
  std::vector<char> zeros(profile::kTraceBlockBytes);
  {
    std::fstream file(directory / profile::kTraceFile, std::ios::in | std::ios::out);
    file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  }
  model::Source source = Opened(directory);
  uint64_t last = 0;
  bool gap = false;
  int depth = 0;
  const auto totals = VisitSlices(source, [&](const Slice& slice) {
    gap = gap || slice.kind == kGap;
    depth += slice.kind == kBegin ? 1 : slice.kind == kEnd ? -1 : 0;
    EXPECT_TRUE(slice.kind != kGap || depth == 0);
    last = slice.ns;
    return true;
  });
  ASSERT_TRUE(totals);
  EXPECT_TRUE(gap);
  EXPECT_EQ(totals->missing + totals->events, 60'000u);
  EXPECT_EQ(depth, 0);
  int64_t whole = 0;
  for (const profile::Node& node : made.nodes) whole += node.self;
  EXPECT_EQ(last, static_cast<uint64_t>(whole));  // with what the missing events took
}

TEST(TraceSlices, TheVisitorMayStop) {
  const ExportFolder folder;
  model::Source source = Opened(folder.Write(Traced(DemoProfile(true))));
  int seen = 0;
  ASSERT_TRUE(VisitSlices(source, [&](const Slice&) { return ++seen < 3; }));
  EXPECT_EQ(seen, 3);
}

TEST(TraceSlices, OddNamesAreJson) {
  const ExportFolder folder;
  profile::SyntheticProfile made;
  made.with_trace = true;
  const profile::MethodId method = made.AddMethod("A\"\n", "\xff;", "()V");
  const size_t thread = made.AddThread("\"t\n", 7);
  made.Enter(thread, method, FrameKind::kRejitted, 30);
  model::Source source = Opened(folder.Write(Traced(made)));
  EXPECT_TRUE(nlohmann::json::accept(ExportAs("chrome", source)));
  EXPECT_NE(ExportAs("perfetto", source), "");
}

TEST(TraceSlices, NoTraceIsAnError) {
  const ExportFolder folder;
  model::Source source = Opened(folder.Write(DemoProfile()));
  EXPECT_FALSE(VisitSlices(source, [](const Slice&) { return true; }));
}

}  // namespace
}  // namespace jprof::reports
