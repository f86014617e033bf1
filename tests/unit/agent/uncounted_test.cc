#include "jprof/agent/calls/uncounted.h"

#include <gtest/gtest.h>

namespace jprof::agent {
namespace {

TEST(Uncounted, CountsEachOnceAndNamesTheFirst) {
  profile::ControlHeader header;
  Uncounted unwoven(header);
  for (int again = 0; again < 2; ++again) {
    unwoven.AddMethod("app/Large", "run", "()V");
    unwoven.AddMethod("app/Large", "run", "(I)V");
    unwoven.AddClass("app/Odd");
  }
  EXPECT_EQ(header.unwoven_methods.count, 2u);
  EXPECT_STREQ(header.unwoven_methods.names, "app.Large.run, app.Large.run");
  EXPECT_EQ(header.unwoven_classes.count, 1u);
  EXPECT_STREQ(header.unwoven_classes.names, "app.Odd");
}

TEST(Uncounted, NamesThatDoNotFitAreCounted) {
  profile::ControlHeader header;
  Uncounted unwoven(header);
  unwoven.AddClass(std::string(503, 'a'));  // with the final zero, the text fills `names`
  unwoven.AddClass("b");
  unwoven.AddMethod(std::string(502, 'a'), "b", "()V");  // one more: its end is kept
  unwoven.AddMethod("a", "b", "()V");
  EXPECT_EQ(header.unwoven_classes.count, 2u);
  EXPECT_EQ(header.unwoven_classes.names, std::string(503, 'a'));
  EXPECT_EQ(header.unwoven_methods.count, 2u);
  EXPECT_EQ(header.unwoven_methods.names, std::string(501, 'a') + ".b");
}

}  // namespace
}  // namespace jprof::agent
