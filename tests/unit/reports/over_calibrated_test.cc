// What reports print of methods whose calibrated value fell below 0.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

// 500 calls of a leaf that takes 1 ns, corrected by 4 ns each, below a loop that takes next to
// nothing; and one call of a method that takes 3000 ns.
profile::SyntheticProfile LeafLoop() {
  using enum FrameKind;
  profile::SyntheticProfile made;
  const profile::MethodId main = made.AddMethod("Demo", "main", "()V", profile::kMethodStatic);
  const profile::MethodId loop = made.AddMethod("Demo", "loop", "()V", profile::kMethodStatic);
  const profile::MethodId leaf = made.AddMethod("Demo", "leaf", "()V", profile::kMethodStatic);
  const profile::MethodId work = made.AddMethod("Demo", "work", "()V", profile::kMethodStatic);
  const size_t thread = made.AddThread("main", 100);
  made.Enter(thread, main, kJitted, 0);
  made.Enter(thread, work, kJitted, 4);
  made.Exit(thread, 3000);
  made.Enter(thread, loop, kJitted, 4);
  for (int i = 0; i < 500; ++i) {
    made.Enter(thread, leaf, kJitted, 4);
    made.Exit(thread, 1);
  }
  made.Exit(thread, 4);
  return made;
}

std::string PrintedLoop(const char* report, const Options& options) {
  const fs::path directory =
      fs::path(testing::TempDir()) / ("leaf-" + std::to_string(getpid()) + ".jprof");
  LeafLoop().Write(directory);
  const Printed printed = Print(report, directory, options, DemoTable());
  fs::remove_all(directory);
  EXPECT_TRUE(printed.result) << report;
  return printed.text;
}

TEST(OverCalibrated, MinPercentKeepsWhatWasMuchBeforeTheCorrection) {
  for (const char* report : {"log-rt", "methods"}) {
    for (const bool merged : {false, true}) {
      const std::string text = PrintedLoop(report, {.merged = merged, .min_percent = 1});
      EXPECT_NE(text.find("Demo.leaf"), std::string::npos) << text;
    }
  }
  const std::string text = PrintedLoop("log-rt", {.min_percent = 1});
  EXPECT_NE(text.find("Demo.loop"), std::string::npos) << text;  // the row that leads to it
  EXPECT_EQ(PrintedLoop("log-rt", {.depth = 2}).find("Demo.leaf"), std::string::npos);
}

TEST(OverCalibrated, ASmallRowIsHidden) {
  const std::string text = PrintedLoop("log-rt", {.min_percent = 100});
  EXPECT_EQ(text.find(":Demo.leaf"), std::string::npos) << text;
}

TEST(OverCalibrated, AShareAbove100IsPrintedWithItsReason) {
  constexpr char kReason[] = "above 100 %: rows that fell below 0 take 1504 ns off the whole";
  for (const char* report : {"log-rt", "methods"}) {
    const std::string text = Unwrapped(PrintedLoop(report, {}));
    EXPECT_NE(text.find(kReason), std::string::npos) << text;
  }
  const std::string markdown = PrintedLoop("methods", {.format = Format::kMarkdown});
  EXPECT_NE(markdown.find(kReason), std::string::npos) << markdown;
}

}  // namespace
}  // namespace jprof::reports
