// What is inserted, and what is left.
#include "jprof/weave/weave.h"

#include <gtest/gtest.h>

#include "jprof/weave/rewrite.h"
#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

TEST(Weave, EachReturnCallsExit) {
  for (const char* op : {"ac", "ad", "ae", "af", "b0", "b1"}) {
    const Shown shown = ShowCounted(CodeSpec{.code = op});
    EXPECT_EQ(shown.code, std::string("04 enter(I)J 3f 1e exit(J)V ") + op);
    EXPECT_EQ(shown.max_stack, 3);
    EXPECT_EQ(shown.max_locals, 2);
  }
}

TEST(Weave, AMethodWithoutReturnCallsOnlyEnter) {
  const Shown shown = ShowCounted(CodeSpec{.max_stack = 1, .code = "01 bf"});
  EXPECT_EQ(shown.code, "04 enter(I)J 3f 01 bf");
  EXPECT_EQ(shown.max_stack, 2);
}

TEST(Weave, AnAnnouncedMethodOnlyAnnounces) {
  const auto woven = WeaveAllWith(ClassOf({.code = "a7 00 03 b1"}), Action::kAnnounce, 1);
  ASSERT_TRUE(woven);
  EXPECT_EQ(woven->announced, 1u);
  EXPECT_EQ(woven->counted, 0u);
  const Shown shown = Show(woven->bytes);
  EXPECT_EQ(shown.code, "a7 00 03 announce()V b1");
  EXPECT_EQ(shown.max_stack, 1);
  EXPECT_EQ(shown.max_locals, 0);
}

CodeSpec LoadClassSpec() {
  return {.access = 1,
          .name = "loadClass",
          .descriptor = "(Ljava/lang/String;)Ljava/lang/Class;",
          .max_locals = 2,
          .code = "01 b0"};
}

TEST(Weave, AMethodThatAnswersDoesSoBeforeItIsCounted) {
  const auto woven = WeaveAllWith(ClassOf(LoadClassSpec()), Action::kCount, 1, true);
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(woven->counted, 1u);
  const Shown shown = Show(woven->bytes);
  EXPECT_EQ(shown.code,
            "2a 2b answer(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Class; 59 c6 00 04 b0 57 "
            "04 enter(I)J 41 01 20 exit(J)V b0");
  EXPECT_EQ(shown.max_stack, 3);
  EXPECT_EQ(shown.max_locals, 4);
}

TEST(Weave, AMethodThatIsNotCountedAnswersToo) {
  const auto woven = WeaveAllWith(ClassOf(LoadClassSpec()), Action::kLeave, 1, true);
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(woven->counted, 0u);
  const Shown shown = Show(woven->bytes);
  EXPECT_EQ(shown.code,
            "2a 2b answer(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Class; 59 c6 00 04 b0 57 "
            "01 b0");
  EXPECT_EQ(shown.max_stack, 2);
  EXPECT_EQ(shown.max_locals, 2);
}

// Returns the code of a method with three arguments that sets a label at its entry.
std::string CodeWithLabel(Action action, LabelAtEntry label) {
  const auto woven =
      Weave(ClassOf({.descriptor = "(Ljava/lang/String;JI)V", .max_locals = 4, .code = "b1"}),
            [&](const Method&) { return Decision{.action = action, .id = 1, .label = label}; });
  if (!woven) return woven.error().message;
  const Shown shown = Show(woven->bytes);
  EXPECT_EQ(shown.max_stack, action == Action::kCount ? 3 : 2);
  return shown.code;
}

TEST(Weave, AMethodSetsALabelAfterItIsCounted) {
  using enum LabelSource;
  const auto counted = [](LabelAtEntry label) { return CodeWithLabel(Action::kCount, label); };
  const std::string enter = "04 enter(I)J 37 04 ", exit = " 16 04 exit(J)V b1";
  EXPECT_EQ(counted({kText, 0}), enter + "2a label(Ljava/lang/String;)V" + exit);
  EXPECT_EQ(counted({kObject, 0}), enter + "2a labelOf(Ljava/lang/Object;)V" + exit);
  EXPECT_EQ(counted({kLongNumber, 1}), enter + "1f labelNumber(J)V" + exit);
  EXPECT_EQ(counted({kNumber, 3}), enter + "1d 85 labelNumber(J)V" + exit);
}

TEST(Weave, AMethodThatIsNotCountedSetsALabelOrEndsIt) {
  EXPECT_EQ(CodeWithLabel(Action::kLeave, {LabelSource::kText, 0}),
            "2a label(Ljava/lang/String;)V b1");
  EXPECT_EQ(CodeWithLabel(Action::kLeave, {}), "01 label(Ljava/lang/String;)V b1");
}

TEST(Weave, IdsHaveTheShortestForm) {
  const auto push = [](uint32_t id) {
    const std::string code = ShowCounted(CodeSpec{.code = "b1"}, id).code;
    return code.substr(0, code.find(" enter"));
  };
  EXPECT_EQ(push(0), "03");
  EXPECT_EQ(push(5), "08");
  EXPECT_EQ(push(6), "10 06");
  EXPECT_EQ(push(127), "10 7f");
  EXPECT_EQ(push(128), "11 00 80");
  EXPECT_EQ(push(32767), "11 7f ff");
  EXPECT_EQ(push(32768), "12 08");  // ldc of the first constant that is appended
}

TEST(Weave, AnIdBehind256ConstantsIsLoadedByLdcW) {
  ClassBuilder builder;
  builder.FillPool(256);
  builder.Add({.code = "b1"});
  const auto woven = WeaveAllWith(builder.Build(), Action::kCount, 1 << 28);
  ASSERT_TRUE(woven);
  const std::string code = Show(woven->bytes).code;
  EXPECT_TRUE(code.starts_with("13 01 ")) << code;
  const std::string all(woven->bytes.begin(), woven->bytes.end());
  EXPECT_NE(all.find(std::string("\x03\x10\x00\x00\x00", 5)), std::string::npos);
}

TEST(Weave, TheLocalHasTheShortestForm) {
  const auto code = [](uint16_t locals) {
    return ShowCounted(CodeSpec{.max_locals = locals, .code = "b1"}).code;
  };
  EXPECT_EQ(code(1), "04 enter(I)J 40 1f exit(J)V b1");
  EXPECT_EQ(code(3), "04 enter(I)J 42 21 exit(J)V b1");
  EXPECT_EQ(code(4), "04 enter(I)J 37 04 16 04 exit(J)V b1");
  EXPECT_EQ(code(255), "04 enter(I)J 37 ff 16 ff exit(J)V b1");
  EXPECT_EQ(code(256), "04 enter(I)J c4 37 01 00 c4 16 01 00 exit(J)V b1");
}

TEST(Weave, DecidesForEachMethodWithCode) {
  ClassBuilder builder;
  builder.Add({.access = 1, .name = "a", .code = "b1"});
  builder.Add({.access = 9, .name = "b", .descriptor = "(I)V", .max_locals = 1, .code = "00 b1"});
  std::string seen;
  const auto woven = Weave(builder.Build(), [&](const Method& method) {
    seen += fmt::format("{}.{}{} {} {}; ", method.class_name, method.name, method.descriptor,
                        method.access, method.code_bytes);
    return Decision{};
  });
  ASSERT_TRUE(woven);
  EXPECT_EQ(seen, "C.a()V 1 1; C.b(I)V 9 2; ");
  EXPECT_TRUE(woven->bytes.empty());
}

TEST(Weave, KnowsIntrinsics) {
  for (const auto& [type, expected] :
       {std::pair("Ljdk/internal/vm/annotation/IntrinsicCandidate;", true),
        std::pair("Ljdk/internal/HotSpotIntrinsicCandidate;", true),
        std::pair("Ljava/lang/Deprecated;", false)}) {
    ClassBuilder builder;
    builder.Utf8("Ljdk/internal/vm/annotation/IntrinsicCandidate;");
    const uint16_t index = builder.Utf8(type);
    // Behind an annotation with an array of an enum constant and an annotation.
    const std::string first = "00 01 00 01 00 01 5b 00 02 65 00 01 00 01 40 00 01 00 00";
    builder.Add(
        {.code = "b1", .annotations = fmt::format("00 02 {} 00 {:02x} 00 00", first, index)});
    bool intrinsic = !expected;
    ASSERT_TRUE(Weave(builder.Build(), [&](const Method& method) {
      intrinsic = method.is_intrinsic;
      return Decision{};
    }));
    EXPECT_EQ(intrinsic, expected) << type;
  }
}

TEST(Weave, AnEmptyFinalizerIsLeft) {
  EXPECT_EQ(
      ShowCounted(CodeSpec{.access = 1, .name = "finalize", .max_locals = 1, .code = "b1"}).code,
      "empty finalizer");
  EXPECT_EQ(ShowCounted(CodeSpec{.name = "finalize", .max_locals = 1, .code = "00 b1"}).code,
            "04 enter(I)J 40 00 1f exit(J)V b1");
}

TEST(Weave, WhatIsTooLargeIsLeft) {
  const auto outcome = [](const char* code, uint16_t stack = 1, uint16_t locals = 0) {
    return ShowCounted(CodeSpec{.max_stack = stack, .max_locals = locals, .code = code})
        .code.substr(0, 10);
  };
  EXPECT_EQ(outcome("00*7990 b1"), "04 enter(I");  // 8000 with what is inserted
  EXPECT_EQ(outcome("00*7991 b1"), "would not ");
  EXPECT_EQ(outcome("00*8000 b1"), "04 enter(I");  // is not compiled anyway
  EXPECT_EQ(outcome("00*65525 b1"), "04 enter(I");
  EXPECT_EQ(outcome("00*65526 b1"), "too large");
  EXPECT_EQ(outcome("b1", 65534), "too large");
  EXPECT_EQ(outcome("b1", 1, 65534), "too large");
}

TEST(Weave, AJumpTooFarIsLeft) {
  EXPECT_EQ(ShowCounted(CodeSpec{.code = "a7 7f ff 00*32764 b1"}).code.substr(0, 12),
            "04 enter(I)J");
  EXPECT_EQ(ShowCounted(CodeSpec{.code = "a7 7f ff b1 00*32763 b1"}).code, "a jump is too far");
}

TEST(Weave, WhatNeedsMoreConstantsThanFitIsLeft) {
  // Counting needs the class (2), and 4 for each of three methods.
  for (const int free : {0, 1, 5, 13}) {
    ClassBuilder builder;
    builder.Utf8("m");
    builder.Utf8("()V");
    builder.Utf8("Code");
    builder.FillPool(static_cast<uint16_t>(65535 - free));
    builder.Add({.code = "b1"});
    const auto bytes = builder.Build();
    const auto woven = WeaveAllWith(bytes, Action::kCount, 1);
    ASSERT_TRUE(woven);
    ASSERT_EQ(woven->skipped.size(), 1u) << free;
    EXPECT_EQ(woven->skipped[0].why, SkipReason::kConstantPoolFull);
    EXPECT_EQ(woven->skipped[0].id, 1u);
    EXPECT_EQ(woven->skipped[0].name, "m");
    EXPECT_TRUE(woven->bytes.empty());
  }
  ClassBuilder builder;
  builder.Utf8("Code");
  builder.Add({.code = "b1"});
  builder.Add({.name = "n", .code = "b1"});
  builder.FillPool(65535 - 15);
  const auto bytes = builder.Build();
  const auto woven = WeaveAllWith(bytes, Action::kCount, 100000);
  ASSERT_TRUE(woven);  // the id of the second method does not fit
  EXPECT_EQ(woven->counted, 1u);
  ASSERT_EQ(woven->skipped.size(), 1u);
  EXPECT_EQ(woven->skipped[0].name, "n");
  EXPECT_TRUE(Weave(woven->bytes, [](const Method&) { return Decision{}; }));
}

TEST(Weave, TheLargestClassFile) {
  ClassBuilder builder;
#ifdef JPROF_SANITIZED  // which take 20 s for the largest one
  constexpr uint32_t kMethods = 150;
#else
  constexpr uint32_t kMethods = 1500;
#endif
  for (uint32_t i = 0; i < kMethods; ++i)
    builder.Add({.name = fmt::format("m{}", i), .code = "b1*11000"});
  auto bytes = builder.Build();
  ASSERT_LT(bytes.size(), kLargestClassFile);
  const auto woven = WeaveAllWith(bytes, Action::kCount, 1);
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(woven->counted, kMethods);
  bytes.resize(kLargestClassFile + 1);
  const auto refused = WeaveAllWith(bytes, Action::kCount, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the class file has 16777217 bytes, more than 16777216");
}

TEST(Weave, WhatIsBetweenMethodsThatAreLeftIsThere) {
  ClassBuilder builder;
  for (int i = 0; i < 300; ++i)  // half of them have to be left
    builder.Add({.name = fmt::format("m{}", i), .code = i % 2 == 0 ? "00*7999 b1" : "00 b1"});
  const auto bytes = builder.Build();
  const auto woven = WeaveAllWith(bytes, Action::kCount, 1);
  ASSERT_TRUE(woven);
  EXPECT_EQ(woven->counted, 150u);
  EXPECT_EQ(woven->skipped.size(), 150u);
  EXPECT_GT(woven->bytes.size(), bytes.size() + 150 * 9);
  std::string names;
  ASSERT_TRUE(Weave(woven->bytes, [&](const Method& method) {
    names += fmt::format("{} {}\n", method.name, method.code_bytes);
    return Decision{};
  }));
  std::string expected;
  for (int i = 0; i < 300; ++i)
    expected += fmt::format("m{} {}\n", i, i % 2 == 0 ? 8000 : i < 5 ? 11 : i < 127 ? 12 : 13);
  EXPECT_EQ(names, expected);
}

TEST(Weave, VersionsThatAreNotKnownAreRefused) {
  const auto woven = [](uint16_t major) {
    const auto result = WeaveAllWith(ClassOf({.code = "b1"}, major), Action::kCount, 1);
    return result ? "woven" : result.error().message;
  };
  EXPECT_EQ(woven(44), "class file version 44 is older than 45");
  EXPECT_EQ(woven(45), "woven");
  EXPECT_EQ(woven(69), "woven");
  EXPECT_EQ(woven(71), "woven");  // two versions ahead
  EXPECT_EQ(woven(72), "class file version 72 is newer than 71");
}

}  // namespace
}  // namespace jprof::weave
