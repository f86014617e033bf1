#include "options/woven_jdks.h"

#include <gtest/gtest.h>

namespace jprof::options {
namespace {

TEST(WovenJdks, OthersAreRefusedWithTheReason) {
  for (const int known : {11, 17, 18, 21, 25, 26, 27}) EXPECT_TRUE(CheckWovenJdk(known)) << known;
  const auto why = [](int version) {
    const auto checked = CheckWovenJdk(version);
    return checked ? "known" : checked.error().message;
  };
  EXPECT_EQ(why(28), "woven counting knows JDKs up to 27, not 28");
  EXPECT_EQ(why(19),
            "woven counting is wrong on JDK 19 and 20, whose virtual threads may end on another "
            "carrier than those of later JDKs");
  EXPECT_EQ(why(20), why(19));
}

}  // namespace
}  // namespace jprof::options
