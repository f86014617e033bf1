#include "record/place/filter_suggestion.h"

#include <gtest/gtest.h>

namespace jprof::record {
namespace {

using Words = std::vector<std::string>;

FilterableNames Names() {
  FilterableNames names;
  for (const char* method : {"price", "total"}) names.Add("com/acme/shop/Order", method);
  names.Add("com/acme/shop/Order$Line", "price");
  names.Add("org/other/Order", "run");
  names.Add("java/lang/String", "length");
  names.Add("Main", "main");
  return names;
}

TEST(FilterSuggestion, ANameWithoutItsPackageIsQualified) {
  EXPECT_EQ(Names().Suggest("Order"), (Words{"org.other.Order", "com.acme.shop.Order"}));
  EXPECT_EQ(Names().Suggest("order.total"), Words{"com.acme.shop.Order.total"});
  EXPECT_EQ(Names().Suggest("Order/total"), Words{"com.acme.shop.Order.total"});
  EXPECT_EQ(Names().Suggest("Line"), Words{"com.acme.shop.Order$Line"});
  EXPECT_EQ(Names().Suggest("main"), Words{"Main.main"});
  EXPECT_EQ(Names().Suggest("shop"), Words{"com.acme.shop"});
}

TEST(FilterSuggestion, AMisspeltNameHasItsNearest) {
  EXPECT_EQ(Names().Suggest("com.acne"), Words{"com.acme"});
  EXPECT_EQ(Names().Suggest("com.acme.shop.Ordre"), Words{"com.acme.shop.Order"});
  EXPECT_EQ(Names().Suggest("com/acme/shop/Order/prize"), Words{"com.acme.shop.Order.price"});
  EXPECT_EQ(Names().Suggest("com.acme.sh"), Words{"com.acme.shop"});
}

TEST(FilterSuggestion, NothingIsGuessed) {
  EXPECT_EQ(Names().Suggest("net.example.Gone"), Words{});
  EXPECT_EQ(FilterableNames().Suggest("com.acme"), Words{});
}

}  // namespace
}  // namespace jprof::record
