// Where the call for an exception handler is inserted, and what of the exception table covers it.
#include <gtest/gtest.h>

#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

constexpr char kEnterCall[] = "04 enter(I)J 41 ";     // 5 bytes; there are two local variables
constexpr char kExitAndReturn[] = "20 exit(J)V b1 ";  // 5 bytes
constexpr char kCaughtCall[] = "20 04 caught(JI)V ";

using Table = std::vector<std::array<uint16_t, 4>>;

Shown Handled(const std::string& code, const Table& table) {
  return ShowCounted(CodeSpec{.max_stack = 2, .max_locals = 2, .code = code, .exceptions = table});
}

// At 0 the lock in local variable 0, monitorenter; at 4 monitorexit, return; at 7 the handler.
constexpr char kLocked[] = "01 59 4b c2 2a c3 b1 ";
std::string WovenLocked() {
  return std::string(kEnterCall) + "01 59 4b c2 2a c3 " + kExitAndReturn;
}

TEST(Handlers, CallCaughtOnce) {
  // Two ranges with one handler: athrow, return; handler: pop, return.
  const Shown shown = ShowCounted(
      CodeSpec{.code = "01 bf b1 57 b1", .exceptions = {{0, 1, 3, 0}, {1, 2, 3, 0}, {0, 3, 4, 0}}});
  EXPECT_EQ(shown.code,
            "04 enter(I)J 3f 01 bf 1e exit(J)V b1 1e 04 caught(JI)V 57 "
            "1e 04 caught(JI)V 1e exit(J)V b1");
  EXPECT_EQ(shown.exceptions, "5-6 12, 6-7 12, 5-12 18");
  EXPECT_EQ(shown.max_stack, 4);
}

TEST(Handlers, OfASynchronizedBlockCallBehindItsMonitorexit) {
  const Shown shown = ShowCounted(CodeSpec{.max_stack = 2,
                                           .max_locals = 2,
                                           .code = std::string(kLocked) + "4c 2a c3 2b bf",
                                           .exceptions = {{4, 6, 7, 0}, {7, 10, 7, 0}},
                                           .attributes = {{"StackMapTable", "00 01 47 07 00 04"}}});
  EXPECT_EQ(shown.code, WovenLocked() + "4c 2a c3 " + kCaughtCall + "2b bf");
  EXPECT_EQ(shown.exceptions, "9-11 16, 16-19 16");
  EXPECT_EQ(shown.max_stack, 5);
  EXPECT_EQ(shown.attributes.at("StackMapTable"), "00 01 ff 00 10 00 03 00 00 04 00 01 07 00 04");
}

TEST(Handlers, ThatDoNotCoverThemselvesCallBehindTheirMonitorexit) {
  const Shown shown = Handled(std::string(kLocked) + "4c 2a c3 2b bf", {{4, 6, 7, 0}});
  EXPECT_EQ(shown.code, WovenLocked() + "4c 2a c3 " + kCaughtCall + "2b bf");
  EXPECT_EQ(shown.exceptions, "9-11 16");
}

TEST(Handlers, ThatLeaveTwoBlocksCallBehindTheLast) {
  // The inner handler goes on in the outer one's code.
  const Shown shown = Handled(std::string(kLocked) + "2b c3 a7 00 03 2a c3 bf", {{4, 6, 7, 0}});
  EXPECT_EQ(shown.code, WovenLocked() + "2b c3 a7 00 03 2a c3 " + kCaughtCall + "bf");
}

TEST(Handlers, WhoseMonitorexitIsNotBeforeAThrowCallAtOnce) {
  // A catch clause in a synchronized block: without an exception the code behind it runs as well.
  const Shown shown = Handled(std::string(kLocked) + "4c 2a c3 b1", {{4, 6, 7, 0}});
  EXPECT_EQ(shown.code, WovenLocked() + kCaughtCall + "4c 2a c3 20 exit(J)V b1");
}

TEST(Handlers, InOneRangeWithTheirMonitorexitAndMoreMakeItTwo) {
  const Shown shown = Handled(std::string(kLocked) + "4c 2a c3 2b bf", {{4, 12, 7, 0}});
  EXPECT_EQ(shown.code, WovenLocked() + "4c 2a c3 " + kCaughtCall + "2b bf");
  EXPECT_EQ(shown.exceptions, "9-19 16, 24-26 16");
}

TEST(Handlers, ThatCoverThemselvesCallBehindThat) {
  // The last handler is that of a finally clause.
  const Shown shown =
      Handled("00 b1 c4 3a 00 01 00 b1", {{0, 1, 2, 0}, {2, 6, 2, 0}, {0, 6, 2, 0}});
  EXPECT_EQ(shown.code, std::string(kEnterCall) + "00 " + kExitAndReturn + "c4 3a 00 01 " +
                            kCaughtCall + "00 20 exit(J)V b1");
  EXPECT_EQ(shown.exceptions, "5-6 11, 11-15 11, 5-15 11");
}

TEST(Handlers, WithAJumpWhereTheyCoverThemselvesCallAtOnce) {
  const Shown shown =
      Handled("00 b1 57 03 99 00 03 00 b1", {{0, 1, 2, 0}, {2, 8, 2, 0}, {0, 9, 2, 0}});
  EXPECT_EQ(shown.code, std::string(kEnterCall) + "00 " + kExitAndReturn + kCaughtCall +
                            "57 03 99 00 03 00 20 exit(J)V b1");
  EXPECT_EQ(shown.exceptions, "5-6 11, 16-22 11, 5-11 11, 16-27 11");
}

TEST(Handlers, ThatCallOthersWhereTheyCoverThemselvesCallAtOnce) {
  // checkcast may load a class, which Java code does.
  const Shown shown = Handled("00 b1 c0 00 02 57 b1", {{0, 1, 2, 0}, {2, 6, 2, 0}});
  EXPECT_EQ(shown.code, std::string(kEnterCall) + "00 " + kExitAndReturn + kCaughtCall +
                            "c0 00 02 57 20 exit(J)V b1");
  EXPECT_EQ(shown.exceptions, "5-6 11, 16-20 11");
}

TEST(Handlers, OfSeveralEntriesCallBehindTheLastThatCoversThem) {
  for (const Table& table :
       {Table{{2, 3, 2, 0}, {2, 4, 2, 1}}, Table{{2, 4, 2, 0}, {2, 3, 2, 1}}}) {
    const Shown shown = Handled("00 b1 4c 00 00 b1", table);
    EXPECT_EQ(shown.code, std::string(kEnterCall) + "00 " + kExitAndReturn + "4c 00 " +
                              kCaughtCall + "00 20 exit(J)V b1");
    EXPECT_EQ(shown.exceptions, table[0][1] == 3 ? "11-12 11, 11-13 11" : "11-13 11, 11-12 11");
  }
}

TEST(Handlers, ThatEndWhereAnotherBeginsShareItsCall) {
  EXPECT_EQ(
      Handled("00 b1 4c 4c b1", {{2, 3, 2, 0}, {0, 1, 3, 0}}).code,
      std::string(kEnterCall) + "00 " + kExitAndReturn + "4c " + kCaughtCall + "4c 20 exit(J)V b1");
  // Also if that is behind its own end.
  const Shown shown = Handled("00 b1 4c 4c b1", {{2, 3, 2, 0}, {3, 4, 3, 0}});
  EXPECT_EQ(shown.code, std::string(kEnterCall) + "00 " + kExitAndReturn + "4c 4c " + kCaughtCall +
                            "20 exit(J)V b1");
  EXPECT_EQ(shown.exceptions, "11-12 11, 12-13 12");
}

TEST(Handlers, ThatCoverThemselvesToTheEndOfTheCodeCallAtOnce) {
  const Shown shown = Handled("00 b1 4c 00", {{0, 1, 2, 0}, {2, 4, 2, 0}});
  EXPECT_EQ(shown.code, std::string(kEnterCall) + "00 " + kExitAndReturn + kCaughtCall + "4c 00");
  EXPECT_EQ(shown.exceptions, "5-6 11, 16-18 11");
}

TEST(Handlers, AFrameIsBeforeTheCall) {
  // A jump leads to where the call is.
  const Shown shown = ShowCounted(CodeSpec{.max_stack = 1,
                                           .max_locals = 2,
                                           .code = "a7 00 04 4c b1",
                                           .exceptions = {{0, 3, 3, 0}, {3, 4, 3, 0}},
                                           .attributes = {{"StackMapTable", "00 02 43 05 00"}}});
  EXPECT_EQ(shown.code, std::string(kEnterCall) + "a7 00 04 4c " + kCaughtCall + "20 exit(J)V b1");
  EXPECT_EQ(shown.attributes.at("StackMapTable"), "00 02 ff 00 08 00 03 00 00 04 00 01 05 00");
}

}  // namespace
}  // namespace jprof::weave
