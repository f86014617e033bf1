// Tests the calls in exception handlers and before returns, and where execution continues after a
// stack overflow in such a call.
#include <gtest/gtest.h>

#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

constexpr char kEnterCall[] = "04 enter(I)J 41 ";     // 5 bytes; there are two local variables
constexpr char kExitAndReturn[] = "20 exit(J)V b1 ";  // 5 bytes
// 18 bytes, of which 2 to 7 are guarded. Execution continues at 15 after a stack overflow, at 10
// after other exceptions, and finally at 16. Local variable 4 keeps the exception.
constexpr char kCaughtCall[] = "3a 04 20 04 caught(JI)V a7 00 09 3a 04 a7 00 04 57 19 04 ";

using Table = std::vector<std::array<uint16_t, 4>>;

Shown Handled(const std::string& code, const Table& table) {
  return ShowCounted(CodeSpec{.max_stack = 2, .max_locals = 2, .code = code, .exceptions = table});
}

TEST(Handlers, CallCaughtOnce) {
  // Two ranges with one handler: athrow, return; handler: pop, return.
  const Shown shown = Handled("01 bf b1 57 b1", {{0, 1, 3, 1}, {1, 2, 3, 1}, {0, 3, 4, 1}});
  EXPECT_EQ(shown.code, std::string(kEnterCall) + "01 bf " + kExitAndReturn + kCaughtCall + "57 " +
                            kCaughtCall + kExitAndReturn + "b1");
  EXPECT_EQ(shown.exceptions, "14-19 27, 33-38 46, 7-11 54, 49-53 54, 5-6 12, 6-7 12, 5-12 31");
  EXPECT_EQ(shown.max_stack, 4);
  EXPECT_EQ(shown.max_locals, 5);
}

TEST(Handlers, OfAnyExceptionGetWhatElseTheirCallIsLeftBy) {
  // A synchronized block: the lock in local variable 0, monitorenter; at 4 monitorexit, return; at
  // 7 the handler, which covers its own monitorexit.
  const Shown shown = ShowCounted(CodeSpec{.max_stack = 2,
                                           .max_locals = 2,
                                           .code = "01 59 4b c2 2a c3 b1 4c 2a c3 2b bf",
                                           .exceptions = {{4, 6, 7, 0}, {7, 10, 7, 0}},
                                           .attributes = {{"StackMapTable", "00 01 47 07 00 04"}}});
  EXPECT_EQ(shown.code, std::string(kEnterCall) + "01 59 4b c2 2a c3 " + kExitAndReturn +
                            kCaughtCall + "4c 2a c3 2b bf b1");
  EXPECT_EQ(shown.exceptions, "18-23 31, 18-23 26, 11-15 39, 9-11 16, 16-37 16");
  // At 16 the handler; from 26 on the exception is also in a local variable; at 31 the error of a
  // stack overflow, at 32 nothing on the stack; at 39 the end.
  EXPECT_EQ(shown.attributes.at("StackMapTable"),
            "00 05 ff 00 10 00 03 00 00 04 00 01 07 00 04 "
            "ff 00 09 00 04 00 00 04 07 00 04 00 01 07 00 04 44 07 00 18 00 "
            "ff 00 06 00 00 00 01 07 00 18");
}

TEST(Handlers, AFrameBehindTheirCallIsNotRepeated) {
  // The frame of the handler, and one with the same locals at the return.
  const Shown shown = ShowCounted(CodeSpec{.max_stack = 1,
                                           .max_locals = 2,
                                           .code = "a7 00 04 4c b1",
                                           .exceptions = {{0, 3, 3, 1}},
                                           .attributes = {{"StackMapTable", "00 02 43 05 00"}}});
  EXPECT_EQ(shown.code,
            std::string(kEnterCall) + "a7 00 16 " + kCaughtCall + "4c " + kExitAndReturn + "b1");
  EXPECT_EQ(
      shown.attributes.at("StackMapTable"),
      "00 06 ff 00 08 00 03 00 00 04 00 01 05 ff 00 09 00 04 00 00 04 05 00 01 05 44 07 00 18 00 "
      "ff 00 02 00 03 00 00 04 00 00 ff 00 04 00 00 00 01 07 00 18");
}

TEST(Returns, OfMethodsThatCallKeepTheirValue) {
  const auto shown = [](const char* type, const char* op) {
    return ShowCounted(CodeSpec{.descriptor = fmt::format("(){}", type),
                                .max_stack = 2,
                                .code = fmt::format("b9 00 00 00 00 {}", op)});
  };
  const std::string call = "04 enter(I)J 3f b9 00 00 00 00 ";
  EXPECT_EQ(shown("V", "b1").code, call + "1e exit(J)V b1 b1");
  EXPECT_EQ(shown("Z", "ac").code, call + "3d 1e exit(J)V 1c ac 1c ac");
  EXPECT_EQ(shown("J", "ad").code, call + "41 1e exit(J)V 20 ad 20 ad");
  EXPECT_EQ(shown("F", "ae").code, call + "45 1e exit(J)V 24 ae 24 ae");
  EXPECT_EQ(shown("D", "af").code, call + "49 1e exit(J)V 28 af 28 af");
  EXPECT_EQ(shown("[I", "b0").code, call + "4d 1e exit(J)V 2c b0 2c b0");
  EXPECT_EQ(shown("J", "ad").exceptions, "11-15 17");
  EXPECT_EQ(shown("J", "ad").max_locals, 4);
  EXPECT_EQ(shown("J", "ad").attributes.at("StackMapTable"),
            "00 01 ff 00 11 00 03 00 00 04 00 01 07 00 17");
}

TEST(Returns, OfMethodsThatAreAnnouncedAndCallAreGuarded) {
  const auto woven = WeaveAllWith(ClassOf({.code = "b9 00 00 00 00 b1"}), Action::kAnnounce, 1);
  ASSERT_TRUE(woven);
  EXPECT_EQ(Show(woven->bytes).code, "b9 00 00 00 00 announce()V b1 b1");
  EXPECT_EQ(Show(woven->bytes).exceptions, "5-8 9");
}

}  // namespace
}  // namespace jprof::weave
