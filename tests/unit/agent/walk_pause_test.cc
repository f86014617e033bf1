#include "jprof/agent/sampling/walk_pause.h"

#include <gtest/gtest.h>

namespace jprof::agent {
namespace {

TEST(WalkPause, TheProgramRunsForAsLongAsTheWalksTake) {
  WalkPause pause;
  EXPECT_TRUE(pause.MayWalk(1));
  pause.Walked(1000, 4000);
  EXPECT_TRUE(pause.MayWalk(4000));
  pause.Walked(5000, 8000);
  EXPECT_FALSE(pause.MayWalk(10999));
  EXPECT_TRUE(pause.MayWalk(11000));
}

TEST(WalkPause, OfAThreadSuspendedInAWalkIsNotLong) {
  WalkPause pause;
  pause.Walked(1000, 1100);
  pause.Walked(2000, 1002100);
  EXPECT_TRUE(pause.MayWalk(1002200));
  pause.Walked(1003000, 1003100);
  EXPECT_FALSE(pause.MayWalk(1003199));
  EXPECT_TRUE(pause.MayWalk(1003200));
}

}  // namespace
}  // namespace jprof::agent
