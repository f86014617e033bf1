#include "common/nearest.h"

#include <gtest/gtest.h>

namespace jprof {
namespace {

TEST(EditDistance, KnownCases) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("flaw", "lawn"), 2);
  EXPECT_EQ(EditDistance("CallTree", "calltree"), 0);
}

TEST(Nearest, TheLeastDistanceAndTheFirstOfEquals) {
  constexpr std::string_view kChoices[] = {"report", "record", "methods"};
  EXPECT_EQ(Nearest("reprot", kChoices), "report");
  EXPECT_EQ(Nearest("recrd", kChoices), "record");
  EXPECT_EQ(Nearest("reort", kChoices), "report");
  EXPECT_EQ(Nearest("repord", kChoices), "report");
}

TEST(Nearest, AWordThatWasCutShort) {
  constexpr std::string_view kChoices[] = {"--help", "--form", "--fold-recursion"};
  EXPECT_EQ(Nearest("--Fold", kChoices), "--fold-recursion");
  EXPECT_EQ(Nearest("--f", kChoices), std::nullopt);  // too short for a prefix match
}

TEST(Nearest, DashesMakeOptionsNoNearer) {
  constexpr std::string_view kChoices[] = {"--probe", "-p"};
  EXPECT_EQ(Nearest("--prob", kChoices), "--probe");
  EXPECT_EQ(Nearest("--wrong", kChoices), std::nullopt);
  EXPECT_EQ(Nearest("-x", kChoices), std::nullopt);
}

TEST(Nearest, NothingWhenAllAreFar) {
  constexpr std::string_view kChoices[] = {"report", "record"};
  EXPECT_EQ(Nearest("zzz", kChoices), std::nullopt);
  EXPECT_EQ(Nearest("", kChoices), std::nullopt);
  EXPECT_EQ(Nearest("report", {}), std::nullopt);
}

}  // namespace
}  // namespace jprof
