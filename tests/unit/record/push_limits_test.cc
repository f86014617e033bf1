#include <gtest/gtest.h>

#include "record/push/push.h"

namespace jprof::record {
namespace {

TEST(PushLimits, OnlyWhatIsBeyondADefaultIsNamed) {
  PushTarget target = {.name = std::string(2048, 'n')};
  for (int i = 0; i < 29; ++i) target.labels.emplace_back("l" + std::to_string(i), "x");
  target.labels[0] = {std::string(1024, 'a'), std::string(2048, 'b')};
  EXPECT_TRUE(LimitWarnings(target, 1000).empty());
  target.name += 'n';
  target.labels[0] = {std::string(1025, 'a'), std::string(2049, 'b')};
  target.labels.emplace_back("one", "more");
  const auto warnings = LimitWarnings(target, 1001);
  ASSERT_EQ(warnings.size(), 5u);
  EXPECT_NE(warnings[0].find("31 labels"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[4].find("max-profile-stacktrace-depth"), std::string::npos) << warnings[4];
  target.server = PushServer::kParca;
  EXPECT_TRUE(LimitWarnings(target, 1001).empty());
}

}  // namespace
}  // namespace jprof::record
