// Jumps, switches and tables in the new layout. The entry of a counted method with id 1 and no
// local variables has 5 bytes, the call before a return 4.
#include <gtest/gtest.h>

#include "jprof/weave/rewrite.h"
#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

constexpr char kEntry[] = "04 enter(I)J 3f ";
constexpr char kReturn[] = "1e exit(J)V b1";

std::string Counted(const std::string& code) { return ShowCounted(CodeSpec{.code = code}).code; }

TEST(Layout, AJumpTo0LeadsBehindTheEntry) {
  EXPECT_EQ(Counted("00 a7 ff ff"), std::string(kEntry) + "00 a7 ff ff");
}

TEST(Layout, AJumpToAReturnLeadsToTheCallBeforeIt) {
  EXPECT_EQ(Counted("03 99 00 04 b1 b1"),
            std::string(kEntry) + "03 99 00 08 " + kReturn + " " + kReturn);
}

TEST(Layout, ABackwardJumpPassesInsertions) {
  EXPECT_EQ(Counted("00 03 9a 00 04 b1 a7 ff fa"),
            std::string(kEntry) + "00 03 9a 00 08 " + kReturn + " a7 ff f6");
}

TEST(Layout, LongJumpsAndNullTests) {
  EXPECT_EQ(Counted("c8 00 00 00 06 b1 b1"),
            std::string(kEntry) + "c8 00 00 00 0a " + kReturn + " " + kReturn);
  EXPECT_EQ(Counted("01 c6 00 04 b1 b1"),
            std::string(kEntry) + "01 c6 00 08 " + kReturn + " " + kReturn);
}

TEST(Layout, ATableswitchAtEachAlignment) {
  for (uint32_t before = 0; before < 4; ++before) {
    std::string code = "03 ";
    std::string expected = std::string(kEntry) + "03 ";
    for (uint32_t i = 0; i < before; ++i) code += "00 ", expected += "00 ";
    const uint32_t old_pad = 3 - (1 + before) % 4;
    const uint32_t new_pad = 3 - (6 + before) % 4;
    const auto jumps = [](uint32_t pad, uint32_t size) {
      const uint32_t first = 1 + pad + 20;  // behind the switch
      return fmt::format(
          "aa{} 00 00 00 {:02x} ff ff ff ff 00 00 00 00 00 00 00 {:02x} 00 00 00 {:02x}",
          pad == 0   ? ""
          : pad == 1 ? " 00"
          : pad == 2 ? " 00 00"
                     : " 00 00 00",
          first, first, first + size);
    };
    code += jumps(old_pad, 1) + " b1 b1";
    expected += jumps(new_pad, 5) + " " + kReturn + " " + kReturn;
    EXPECT_EQ(Counted(code), expected) << before;
  }
}

TEST(Layout, ALookupswitchAtEachAlignment) {
  for (uint32_t before = 0; before < 4; ++before) {
    std::string code = "03 ";
    std::string expected = std::string(kEntry) + "03 ";
    for (uint32_t i = 0; i < before; ++i) code += "00 ", expected += "00 ";
    const auto jumps = [](uint32_t pad, uint32_t size) {
      const uint32_t first = 1 + pad + 16;
      return fmt::format("ab{} 00 00 00 {:02x} 00 00 00 01 00 00 00 2a 00 00 00 {:02x}",
                         pad == 0   ? ""
                         : pad == 1 ? " 00"
                         : pad == 2 ? " 00 00"
                                    : " 00 00 00",
                         first, first + size);
    };
    code += jumps(3 - (1 + before) % 4, 1) + " b1 b1";
    expected += jumps(3 - (6 + before) % 4, 5) + " " + kReturn + " " + kReturn;
    EXPECT_EQ(Counted(code), expected) << before;
  }
  EXPECT_EQ(Counted("03 00*2 ab 00 00 00 09 00 00 00 00 b1"),
            std::string(kEntry) + "03 00 00 ab 00 00 00 00 00 00 0c 00 00 00 00 " + kReturn);
}

TEST(Layout, WideInstructionsAreCopied) {
  EXPECT_EQ(
      ShowCounted(CodeSpec{.max_locals = 1, .code = "c4 15 00 00 57 c4 84 00 00 00 01 b1"}).code,
      "04 enter(I)J 40 c4 15 00 00 57 c4 84 00 00 00 01 1f exit(J)V b1");
}

TEST(Layout, SubroutinesOfVersion45) {
  // jsr to a subroutine that returns by ret; StackMapTable means nothing in this version.
  const CodeSpec spec = {
      .max_locals = 1, .code = "a8 00 04 b1 4b a9 00", .attributes = {{"StackMapTable", "ff ff"}}};
  const Shown shown = ShowCounted(ClassOf(spec, 45));
  EXPECT_EQ(shown.code, "04 enter(I)J 40 a8 00 08 1f exit(J)V b1 4b a9 00");
  EXPECT_TRUE(shown.attributes.empty());
  EXPECT_EQ(ShowCounted(CodeSpec{.max_locals = 1, .code = "c9 00 00 00 06 b1 4b a9 00"}).code,
            "04 enter(I)J 40 c9 00 00 00 0a 1f exit(J)V b1 4b a9 00");
}

TEST(Layout, TablesForDebuggers) {
  const Shown shown = ShowCounted(
      CodeSpec{.max_locals = 0,
               .code = "00 00 b1 00 b1",
               .attributes = {{"LineNumberTable", "00 03 00 00 00 0a 00 02 00 0b 00 03 00 0c"},
                              {"LocalVariableTable",
                               "00 02 00 00 00 05 00 01 00 01 00 00 "
                               "00 01 00 02 00 01 00 01 00 00"},
                              {"LocalVariableTypeTable", "00 01 00 03 00 02 00 01 00 01 00 00"},
                              {"CharacterRangeTable", "00 00"}}});
  EXPECT_EQ(shown.attributes.at("LineNumberTable"), "00 03 00 00 00 0a 00 07 00 0b 00 0c 00 0c");
  EXPECT_EQ(shown.attributes.at("LocalVariableTable"),
            "00 02 00 00 00 12 00 01 00 01 00 00 00 06 00 06 00 01 00 01 00 00");
  EXPECT_EQ(shown.attributes.at("LocalVariableTypeTable"), "00 01 00 0c 00 06 00 01 00 01 00 00");
  EXPECT_FALSE(shown.attributes.contains("CharacterRangeTable"));
}

TEST(Layout, ALineInsideAnInstructionBeginsWithIt) {
  // At 1 a lookupswitch of 19 bytes, at 20 an instruction of 6.
  const Shown shown = ShowCounted(CodeSpec{
      .max_locals = 1,
      .code = "03 ab 00 00 00 00 00 13 00 00 00 01 00 00 00 01 00 00 00 13 c4 84 00 00 00 01 b1",
      .attributes = {{"LineNumberTable", "00 03 00 13 00 01 00 19 00 02 00 1b 00 03"}}});
  EXPECT_EQ(shown.attributes.at("LineNumberTable"), "00 03 00 06 00 01 00 18 00 02 00 23 00 03");
}

TEST(Layout, TypeAnnotations) {
  // new at 0, cast at 3, the second handler (whose entry becomes the sixth), a local variable.
  const Shown shown = ShowCounted(CodeSpec{
      .code = "bb 00 02 c0 00 02 b0 be b1",
      .exceptions = {{0, 8, 7, 0}, {3, 6, 7, 0}},
      .attributes = {{"RuntimeInvisibleTypeAnnotations",
                      "00 04 44 00 00 00 00 01 00 00 47 00 03 00 00 00 01 00 00 "
                      "42 00 01 00 00 01 00 00 40 00 01 00 03 00 04 00 01 00 00 01 00 00"}}});
  EXPECT_EQ(shown.exceptions, "17-22 29, 17-22 25, 11-15 37, 32-36 37, 5-32 16, 8-11 16");
  EXPECT_EQ(shown.attributes.at("RuntimeInvisibleTypeAnnotations"),
            "00 04 44 00 05 00 00 01 00 00 47 00 08 00 00 00 01 00 00 "
            "42 00 05 00 00 01 00 00 40 00 01 00 08 00 08 00 01 00 00 01 00 00");
}

TEST(Layout, UnchangedMethodsAreWrittenAsTheyWere) {
  const auto bytes = ClassOf({.max_locals = 2,
                              .code = "03 aa 00 00 00 00 00 18 ff ff ff ff 00 00 00 00 "
                                      "00 00 00 17 00 00 00 18 b1 57 b1",
                              .exceptions = {{0, 1, 25, 0}, {25, 26, 25, 0}},
                              .attributes = {{"LineNumberTable", "00 01 00 18 00 01"},
                                             {"StackMapTable", "00 03 18 40 07 00 02 fb 00 00"}}});
  const auto rewritten = RewriteUnchanged(bytes);
  ASSERT_TRUE(rewritten) << rewritten.error().message;
  EXPECT_EQ(*rewritten, bytes);
}

}  // namespace
}  // namespace jprof::weave
