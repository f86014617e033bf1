// The calls that count what a method asks for.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

// Numbers classes from 1 on, in the order in which they are asked for.
class NumberedClasses {
 public:
  uint32_t operator()(std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<uint32_t>(found - names.begin()) + 1;
    names.emplace_back(name);
    return static_cast<uint32_t>(names.size());
  }
  std::vector<std::string> names;
};

Shown ShowAsked(const std::vector<uint8_t>& bytes, NumberedClasses& ids) {
  const auto woven =
      Weave(bytes,
            [](const Method&) {
              return Decision{.action = Action::kCount, .id = 1, .allocations = true};
            },
            {.of_class = std::ref(ids)});
  if (!woven) return {.code = woven.error().message};
  if (!woven->skipped.empty()) return {.code = std::string(NameOf(woven->skipped[0].why))};
  return Show(woven->bytes);
}
Shown ShowAsked(const CodeSpec& spec, NumberedClasses& ids) {
  return ShowAsked(ClassOf(spec), ids);
}

using Names = std::vector<std::string>;

TEST(Allocations, OfObjectsAndArraysAreCountedBeforeThem) {
  // new C, pop; newarray int, pop; anewarray C, pop; return. Constant 2 is C.
  NumberedClasses ids;
  const Shown shown = ShowAsked({.code = "bb 00 02 57 04 bc 0a 57 04 bd 00 02 57 b1"}, ids);
  EXPECT_EQ(shown.code,
            "04 enter(I)J 3f 04 asked(I)V bb 00 02 57 04 05 asked(I)V bc 0a 57 "
            "04 06 asked(I)V bd 00 02 57 1e exit(J)V b1");
  EXPECT_EQ(ids.names, (Names{"C", "[I", "[LC;"}));
  EXPECT_EQ(shown.max_stack, 4);
}

TEST(Allocations, AreNotCountedWithoutTheDecision) {
  EXPECT_EQ(ShowCounted(CodeSpec{.code = "bb 00 02 57 b1"}).code,
            "04 enter(I)J 3f bb 00 02 57 1e exit(J)V b1");
}

TEST(Allocations, AnArrayOfArraysIsNamedAfterThem) {
  ClassBuilder builder;
  const uint16_t longs = builder.Class("[J");
  builder.Add({.code = fmt::format("04 bd {:02x} {:02x} 57 b1", longs >> 8, longs & 255)});
  NumberedClasses ids;
  ShowAsked(builder.Build(), ids);
  EXPECT_EQ(ids.names, (Names{"[[J"}));
}

// int[a][b][]: the lengths go to local variables 2 and 3, behind that of the node.
TEST(Allocations, OfEachDimensionAreCounted) {
  ClassBuilder builder;
  const uint16_t cube = builder.Class("[[[I");
  builder.Add({.max_stack = 2,
               .code = fmt::format("05 06 c5 {:02x} {:02x} 02 57 b1", cube >> 8, cube & 255)});
  NumberedClasses ids;
  const Shown shown = ShowAsked(builder.Build(), ids);
  EXPECT_EQ(shown.code.substr(0, shown.code.find("c5")),
            "04 enter(I)J 3f 05 06 3e 3d 04 asked(I)V 1c 59 05 asked(II)V 57 1c 1d ");
  EXPECT_EQ(ids.names, (Names{"[[[I", "[[I"}));
  EXPECT_EQ(shown.max_locals, 4);
  EXPECT_EQ(shown.max_stack, 5);
}

TEST(Allocations, ThreeDimensionsAreMultiplied) {
  ClassBuilder builder;
  const uint16_t cube = builder.Class("[[[I");
  builder.Add({.max_stack = 3,
               .code = fmt::format("05 05 05 c5 {:02x} {:02x} 03 57 b1", cube >> 8, cube & 255)});
  NumberedClasses ids;
  const Shown shown = ShowAsked(builder.Build(), ids);
  EXPECT_NE(shown.code.find("1c 59 05 asked(II)V 1d 68 59 06 asked(II)V 57 1c 1d 15 04 c5"),
            shown.code.npos)
      << shown.code;
  EXPECT_EQ(ids.names, (Names{"[[[I", "[[I", "[I"}));
}

TEST(Allocations, AJumpToOneLeadsToTheCallBeforeIt) {
  NumberedClasses ids;
  const Shown shown = ShowAsked(
      {.code = "a7 00 03 bb 00 02 57 b1", .attributes = {{"StackMapTable", "00 01 03"}}}, ids);
  EXPECT_EQ(shown.code, "04 enter(I)J 3f a7 00 03 04 asked(I)V bb 00 02 57 1e exit(J)V b1");
}

// The verifier knows an object without a constructor by the offset of its `new`.
TEST(Allocations, UninitialisedObjectsFollowTheirNew) {
  NumberedClasses ids;
  const Shown shown = ShowAsked(
      {.code = "bb 00 02 00 57 b1", .attributes = {{"StackMapTable", "00 01 43 08 00 00"}}}, ids);
  EXPECT_EQ(shown.code, "04 enter(I)J 3f 04 asked(I)V bb 00 02 00 57 1e exit(J)V b1");
  EXPECT_EQ(shown.attributes.at("StackMapTable"), "00 01 ff 00 0c 00 01 04 00 01 08 00 09");
}

// A number is counted before it is boxed: a small one has its object already.
TEST(Allocations, OfBoxesAreCountedWhereTheyAreCalledFor) {
  ClassBuilder builder;
  const auto call = [&](const char* type, const char* descriptor) {
    return fmt::format("b8 00 {:02x} ", builder.Method(type, "valueOf", descriptor));
  };
  builder.Add({.max_stack = 2,
               .code = "04 " + call("java/lang/Integer", "(I)Ljava/lang/Integer;") + "57 0a " +
                       call("java/lang/Long", "(J)Ljava/lang/Long;") + "57 0f " +
                       call("java/lang/Double", "(D)Ljava/lang/Double;") + "57 04 " +
                       call("java/lang/Boolean", "(Z)Ljava/lang/Boolean;") + "57 04 " +
                       call("app/Integer", "(I)Ljava/lang/Integer;") + "57 b1"});
  NumberedClasses ids;
  EXPECT_EQ(ShowAsked(builder.Build(), ids).code,
            "04 enter(I)J 3f 04 59 04 askedBox(II)V ? 57 0a 5c 05 askedBox(JI)V ? 57 "
            "0f 06 asked(I)V ? 57 04 ? 57 04 ? 57 1e exit(J)V b1 b1");
  EXPECT_EQ(ids.names, (Names{"java/lang/Integer", "java/lang/Long", "java/lang/Double"}));
}

// Methods between the limits count their calls.
TEST(Allocations, AreLeftOutWhereTheMethodWouldBecomeTooLarge) {
  std::string code;
  for (int i = 0; i < 1800; ++i) code += "bb 00 02 57 ";
  NumberedClasses ids;
  const Shown shown = ShowAsked({.code = code + "b1"}, ids);
  EXPECT_EQ(shown.code.find("asked"), shown.code.npos);
  EXPECT_EQ(shown.code.substr(0, 15), "04 enter(I)J 3f");
}

TEST(Allocations, ANameThatThePoolLacksIsLeftToTheVm) {
  NumberedClasses ids;
  EXPECT_EQ(ShowAsked({.code = "bb 7f ff 57 b1"}, ids).code,
            "04 enter(I)J 3f bb 7f ff 57 1e exit(J)V b1");
  EXPECT_TRUE(ids.names.empty());
}

}  // namespace
}  // namespace jprof::weave
