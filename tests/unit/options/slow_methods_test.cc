#include "options/slow_methods.h"

#include <gtest/gtest.h>

namespace jprof::options {
namespace {

TEST(SlowMethods, AreMethodsAndATime) {
  const std::pair<const char*, uint64_t> times[] = {
      {"com.acme.Cart.total:500us", 500'000},
      {"com.acme.Cart.total:10ms", 10'000'000},
      {"com.acme.Cart::total:2s", 2'000'000'000},
      {"com.acme.Cart#total:1us", 1000},
      {"com/acme/Cart.total:3600s", 3600ull * 1'000'000'000}};
  for (const auto& [text, ns] : times) {
    const auto methods = ParseSlowMethods(text);
    ASSERT_TRUE(methods) << text << ": " << methods.error().message;
    EXPECT_EQ(methods->ns, ns);
    EXPECT_TRUE(methods->filter.AcceptsMethod("com/acme/Cart", "total")) << text;
    EXPECT_FALSE(methods->filter.AcceptsMethod("com/acme/Cart", "sum")) << text;
  }
  EXPECT_TRUE(ParseSlowMethods("com.acme:1s")->filter.AcceptsMethod("com/acme/Cart", "total"));
  EXPECT_TRUE(ParseSlowMethods("com.*:1s")->filter.AcceptsMethod("com/acme/Cart", "total"));
}

TEST(SlowMethods, RefusesWhatIsNone) {
  for (const char* text : {"", "a.B.c", "a.B.c:", ":10ms", "a.B.c:10", "a.B.c:ms", "a.B.c:0ms",
                           "a.B.c:-1ms", "a.B.c:1m", "a.B.c:1.5s", "a.B.c:3601s", "a.B::c",
                           "-a.B.c:1s", "a.B.c:99999999999999999999s", "a.B.c:10ms "}) {
    EXPECT_FALSE(ParseSlowMethods(text)) << text;
  }
}

}  // namespace
}  // namespace jprof::options
