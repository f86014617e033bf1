#include "record/agent/run_progress.h"

#include <gtest/gtest.h>

namespace jprof::record {
namespace {

TEST(RoughDuration, HasTwoUnitsAtMost) {
  EXPECT_EQ(RoughDuration(0.4), "0 s");
  EXPECT_EQ(RoughDuration(59.4), "59 s");
  EXPECT_EQ(RoughDuration(59.6), "1 min 0 s");
  EXPECT_EQ(RoughDuration(200), "3 min 20 s");
  EXPECT_EQ(RoughDuration(3599.6), "1 h 0 min");
  EXPECT_EQ(RoughDuration(7500), "2 h 5 min");
}

TEST(RunProgress, TheFirstRunShowsOnlyHowLongItTookSoFar) {
  RunProgress progress(3, /*at_most=*/false);
  progress.Begin("sampled");
  EXPECT_EQ(progress.Text(0), "run 1 of 3: sampled");
  EXPECT_EQ(progress.Text(12), "run 1 of 3: sampled, 12 s so far");
}

TEST(RunProgress, ARunThatTakesLongerThanTheOthersShowsHowLongItTookSoFar) {
  RunProgress progress(2, /*at_most=*/true);
  progress.Begin("counted");
  progress.End();
  progress.Begin("sampled");
  EXPECT_EQ(progress.Text(0), "run 2 of at most 2: sampled, at most 0 s left");
  EXPECT_EQ(progress.Text(100), "run 2 of at most 2: sampled, 1 min 40 s so far");
}

}  // namespace
}  // namespace jprof::record
