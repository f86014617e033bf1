#include "jprof/hotspot/objects/interpreted_new.h"

#include <gtest/gtest.h>

namespace jprof::hotspot {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

#if defined(__x86_64__)

// mov edx, [rcx+8]; the test; jne; mov rax, [r15+0x1c8]
constexpr std::string_view kBefore = "\x8b\x51\x08"sv, kAfter = "\x49\x8b\x87\xc8\x01\0\0"sv;

std::string New(std::string_view test, char condition) {
  return std::string(kBefore) + std::string(test) + "\x0f" + condition + "\x56\0\0\0"s +
         std::string(kAfter);
}

TEST(InterpretedNew, TheConditionIsTheSecondByteOfTheJumpBehindTheTest) {
  EXPECT_EQ(ConditionOfNew(New("\xf6\xc2\x01"sv, '\x85')), 7u);         // JDK 25
  EXPECT_EQ(ConditionOfNew(New("\xf7\xc2\x01\0\0\0"sv, '\x85')), 10u);  // JDK 17
  // A recording that could not be ended has left it changed.
  EXPECT_EQ(ConditionOfNew(New("\xf6\xc2\x01"sv, '\x81')), 7u);
}

TEST(InterpretedNew, OtherJumpsAreNone) {
  EXPECT_EQ(ConditionOfNew(New("\xf6\xc2\x02"sv, '\x85')), std::nullopt);  // another bit
  EXPECT_EQ(ConditionOfNew(New("\xf6\xc2\x01"sv, '\x84')), std::nullopt);  // je
  EXPECT_EQ(ConditionOfNew("\xf6\xc2\x01\x0f"sv), std::nullopt);           // cut off
  EXPECT_EQ(ConditionOfNew(""), std::nullopt);
}

TEST(InterpretedNew, OneOfTwoIsNotChosen) {
  const std::string one = New("\xf6\xc2\x01"sv, '\x85');
  EXPECT_EQ(ConditionOfNew(one + one), std::nullopt);
}

#endif

}  // namespace
}  // namespace jprof::hotspot
