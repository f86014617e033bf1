#include "options/label_methods.h"

#include <gtest/gtest.h>

namespace jprof::options {
namespace {

TEST(LabelMethod, IsAMethodWithItsClass) {
  const auto method = ParseLabelMethod("com.acme.Shop.handle:3");
  ASSERT_TRUE(method) << method.error().message;
  EXPECT_EQ(method->argument, 3u);
  EXPECT_TRUE(method->Matches("com/acme/Shop", "handle"));
  EXPECT_FALSE(method->Matches("com/acme/Shop", "handleAll"));
  EXPECT_FALSE(method->Matches("com/acme/Shop", "other"));
  EXPECT_FALSE(method->Matches("com/acme/Shop$Inner", "handle"));
  EXPECT_FALSE(method->Matches("org/acme/Shop", "handle"));
}

TEST(LabelMethod, HasOtherNotations) {
  for (const char* text : {"com/acme/Shop.handle", "com.acme.Shop#handle", "com.acme.Shop::handle",
                           "com.acme.Shop.handle(String)"}) {
    const auto method = ParseLabelMethod(text);
    ASSERT_TRUE(method) << text << ": " << method.error().message;
    EXPECT_EQ(method->argument, 1u);
    EXPECT_TRUE(method->Matches("com/acme/Shop", "handle")) << text;
  }
  EXPECT_TRUE(ParseLabelMethod("com.acme.Shop::handle:2")->Matches("com/acme/Shop", "handle"));
  EXPECT_TRUE(ParseLabelMethod("a.Outer.Inner.of")->Matches("a/Outer$Inner", "of"));
  EXPECT_TRUE(ParseLabelMethod("Shop.<init>")->Matches("Shop", "<init>"));
}

TEST(LabelMethod, RefusesWhatIsNone) {
  for (const char* text :
       {"", "handle", "Shop.", ".handle", "Shop.handle:", "Shop.handle:x", "Shop.handle:0",
        "Shop.handle:256", "Shop.handle:-1", "Shop.*", "com.*.handle", "-Shop.handle"}) {
    EXPECT_FALSE(ParseLabelMethod(text)) << text;
  }
}

}  // namespace
}  // namespace jprof::options
