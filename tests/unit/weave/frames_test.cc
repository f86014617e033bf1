// Stack map frames with the new local. The code is a run of nop; the entry has 5 or more bytes.
#include "jprof/weave/frames.h"

#include <gtest/gtest.h>

#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

// The frames of a static method with these arguments, whose code is 400 nop and a return.
std::string Frames(const std::string& table, const std::string& arguments = "",
                   uint16_t max_locals = 0) {
  const Shown shown = ShowCounted(CodeSpec{.descriptor = "(" + arguments + ")V",
                                           .max_locals = max_locals,
                                           .code = "00*400 b1",
                                           .attributes = {{"StackMapTable", table}}});
  return shown.attributes.contains("StackMapTable") ? shown.attributes.at("StackMapTable")
                                                    : shown.code;
}

TEST(Frames, TheFirstBecomesFullAndTheNextStays) {
  EXPECT_EQ(Frames("00 02 01 02"), "00 02 ff 00 06 00 01 04 00 00 02");
}

TEST(Frames, OneAt0IsBehindTheEntry) {
  EXPECT_EQ(Frames("00 01 00"), "00 01 ff 00 05 00 01 04 00 00");
}

TEST(Frames, OneItem) {
  EXPECT_EQ(Frames("00 02 41 01 42 04"), "00 02 ff 00 06 00 01 04 00 01 01 42 04");
  EXPECT_EQ(Frames("00 02 f7 00 41 07 00 02 f7 00 42 02"),
            "00 02 ff 00 46 00 01 04 00 01 07 00 02 f7 00 42 02");
}

TEST(Frames, SameExtended) {
  EXPECT_EQ(Frames("00 02 fb 00 41 fb 00 42"), "00 02 ff 00 46 00 01 04 00 00 fb 00 42");
}

TEST(Frames, AppendAndChop) {
  EXPECT_EQ(Frames("00 02 fd 00 01 01 04 f9 00 00", "", 3),
            "00 02 ff 00 06 00 03 01 04 04 00 00 ff 00 00 00 04 00 00 00 04 00 00");
}

TEST(Frames, ArgumentsAreTheFirstLocals) {
  // int, float, long, double, int[], C, String: the last class is appended to the pool.
  EXPECT_EQ(Frames("00 01 01", "ZFJD[ILC;Ljava/lang/String;", 9),
            "00 01 ff 00 07 00 08 01 02 04 03 07 00 18 07 00 02 07 00 1a 04 00 00");
}

TEST(Frames, UnusedSlotsAreTop) {
  EXPECT_EQ(Frames("00 01 fc 00 01 03", "B", 6), "00 01 ff 00 07 00 06 01 03 00 00 00 04 00 00");
}

TEST(Frames, Full) {
  EXPECT_EQ(Frames("00 01 ff 00 01 00 02 00 01 00 02 03 05", "", 3),
            "00 01 ff 00 06 00 04 00 01 00 04 00 02 03 05");
}

TEST(Frames, AConstructorBeginsUninitialised) {
  CodeSpec spec = {.access = 1,
                   .name = "<init>",
                   .max_locals = 1,
                   .code = "00*9 b1",
                   .attributes = {{"StackMapTable", "00 02 01 ff 00 01 00 01 07 00 02 00 00"}}};
  EXPECT_EQ(ShowCounted(spec).attributes.at("StackMapTable"),
            "00 02 ff 00 06 00 02 06 04 00 00 ff 00 01 00 02 07 00 02 04 00 00");
  spec.name = "m";
  EXPECT_EQ(ShowCounted(spec).attributes.at("StackMapTable"),
            "00 02 ff 00 06 00 02 07 00 02 04 00 00 ff 00 01 00 02 07 00 02 04 00 00");
}

TEST(Frames, UninitialisedObjectsFollowTheirNew) {
  // new at 0, a handler's `new` at 4, which is behind what is inserted there.
  const Shown shown =
      ShowCounted(CodeSpec{.code = "bb 00 02 00 bb 00 02 00 b1",
                           .exceptions = {{0, 4, 4, 0}},
                           .attributes = {{"StackMapTable", "00 02 43 08 00 00 43 08 00 04"}}});
  EXPECT_EQ(shown.code,
            "04 enter(I)J 3f bb 00 02 00 4d 1e 04 caught(JI)V a7 00 08 4d a7 00 04 57 2c "
            "bb 00 02 00 1e exit(J)V b1 b1");
  EXPECT_EQ(shown.attributes.at("StackMapTable"),
            "00 03 ff 00 08 00 01 04 00 01 08 00 05 52 08 00 18 ff 00 05 00 00 00 01 07 00 18");
}

TEST(Frames, AnAnnouncedMethodKeepsItsKinds) {
  const auto woven = WeaveAllWith(
      ClassOf(
          {.max_locals = 2,
           .code = "b1 b1 b1 00*70 b1 b1",
           .attributes = {{"StackMapTable",
                           "00 06 00 40 01 fc 00 00 01 fa 00 3b fb 00 08 ff 00 00 00 00 00 00"}}}),
      Action::kAnnounce, 1);
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(Show(woven->bytes).attributes.at("StackMapTable"),
            "00 06 00 43 01 fc 00 03 01 fa 00 3e fb 00 08 ff 00 00 00 00 00 00");
}

// The frames behind the answer: of the entry, with the class on the stack; the method's own.
TEST(Frames, AMethodThatAnswersHasOneMore) {
  const CodeSpec spec = {.access = 1,
                         .name = "loadClass",
                         .descriptor = "(Ljava/lang/String;)Ljava/lang/Class;",
                         .max_locals = 2,
                         .code = "a7 00 00",
                         .attributes = {{"StackMapTable", "00 01 00"}}};
  const auto frames = [&](Action action) {
    const auto woven = WeaveAllWith(ClassOf(spec), action, 1, true);
    return woven ? Show(woven->bytes).attributes.at("StackMapTable") : woven.error().message;
  };
  EXPECT_EQ(frames(Action::kLeave), "00 02 4a 07 00 10 00");
  EXPECT_EQ(frames(Action::kCount), "00 02 4a 07 00 1c ff 00 05 00 03 07 00 02 07 00 1e 04 00 00");
}

TEST(Frames, ADeltaThatOutgrowsItsKindMakesItExtended) {
  std::string returns;
  for (int i = 0; i < 20; ++i) returns += "b1 ";
  const auto woven = WeaveAllWith(
      ClassOf({.code = returns + "00 b1", .attributes = {{"StackMapTable", "00 02 00 13"}}}),
      Action::kAnnounce, 1);
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(Show(woven->bytes).attributes.at("StackMapTable"), "00 02 00 fb 00 4f");
}

TEST(Frames, ClassesThatWouldBecomeHugeAreLeft) {
  std::string table = "9c 40 ff 00 00 fd 00";  // 40,000 frames; the first with 64,768 locals
  table += " 01*64768 00 00";
  for (int i = 1; i < 40000; i += 2) table += " fc 00 00 01 fa 00 00";
  const CodeSpec spec = {
      .max_locals = 65000, .code = "00*40000 b1", .attributes = {{"StackMapTable", table}}};
  EXPECT_EQ(ShowCounted(spec).code, "too large");
}

TEST(Frames, ManyMethodsWithHugeOnesTakeNoLonger) {
  std::string table = "07 d0 fc 00 00 01";  // 2000 frames, each of which would have 64 KiB
  for (int i = 1; i < 2000; ++i) table += i % 2 == 1 ? " fa 00 00" : " fc 00 00 01";
  ClassBuilder builder;
  for (int i = 0; i < 500; ++i)
    builder.Add({.name = fmt::format("m{}", i),
                 .max_locals = 65000,
                 .code = "00*2000 b1",
                 .attributes = {{"StackMapTable", table}}});
  builder.Add({.name = "n", .code = "b1"});
  const auto woven = WeaveAllWith(builder.Build(), Action::kCount, 1);
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(woven->counted, 1u);
  EXPECT_EQ(woven->skipped.size(), 500u);
}

TEST(Frames, MalformedOnesAreDroppedWhereTheVmInfersTypes) {
  const CodeSpec spec = {.code = "b1", .attributes = {{"StackMapTable", "00 01 80"}}};
  const auto woven = WeaveAllWith(ClassOf(spec, 50), Action::kCount, 1);
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(Show(woven->bytes).attributes.count("StackMapTable"), 0u);
  EXPECT_FALSE(WeaveAllWith(ClassOf(spec, 51), Action::kCount, 1));
}

TEST(Frames, MalformedOnesAreRefused) {
  const std::string prefix = "malformed class file: method m()V: ";
  EXPECT_EQ(Frames("00 01 80"), prefix + "a stack map frame is of the unknown kind 128");
  EXPECT_EQ(Frames("00 01 40"), prefix + "a stack map frame is malformed or cut off");
  EXPECT_EQ(Frames("00 01 40 09"), prefix + "a stack map frame is malformed or cut off");
  EXPECT_EQ(Frames("00 01 fb 7f ff"), prefix + "a stack map frame is not at an instruction");
  EXPECT_EQ(Frames("00 01 fc 00 01 01"),
            prefix + "a stack map frame has more locals than the method");
  EXPECT_EQ(Frames("00 01 01 00"), prefix + "its StackMapTable has a wrong length");
}

}  // namespace
}  // namespace jprof::weave
