// Methods that run no code but their own, which only count their entries.
#include "jprof/weave/leaf_method.h"

#include <gtest/gtest.h>

#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

// A class with the constants that the codes below use.
struct Constants {
  ClassBuilder builder;
  std::string own = Index(builder.Field("C", "x", "I"));
  std::string other = Index(builder.Field("D", "x", "I"));
  std::string type = Index(builder.Class("D"));
  std::string number = NextNumber();

  static std::string Index(uint16_t index) {
    return fmt::format("{:02x} {:02x}", index >> 8, index & 0xff);
  }
  std::string NextNumber() {
    const uint16_t before = builder.Utf8("the last one");
    builder.FillPool(static_cast<uint16_t>(before + 2));
    return Index(static_cast<uint16_t>(before + 1));
  }
};

Shown ShowLeaf(Constants& constants, const CodeSpec& spec,
               const Decision& decision = {.action = Action::kCount, .id = 1, .leaves = true}) {
  constants.builder.Add(spec);
  const auto woven = Weave(constants.builder.Build(), [&](const Method&) { return decision; });
  if (!woven) return {.code = woven.error().message};
  EXPECT_EQ(woven->counted, 1u);
  return Show(woven->bytes);
}

TEST(LeafMethod, OnlyCountsItsEntries) {
  Constants constants;
  const std::string code = "2a b4 " + constants.own + " 1b 68 13 " + constants.number + " 60 ac";
  const Shown shown =
      ShowLeaf(constants,
               {.access = 1, .descriptor = "(I)I", .max_stack = 2, .max_locals = 2, .code = code});
  EXPECT_EQ(shown.code, "04 leaf(I)V " + code);
  EXPECT_EQ(shown.max_stack, 2);
  EXPECT_EQ(shown.max_locals, 2);
  EXPECT_EQ(shown.exceptions, "");
}

TEST(LeafMethod, MayLoopAndThrow) {
  Constants constants;
  const Shown shown = ShowLeaf(constants, {.max_stack = 1,
                                           .code = "00 a7 ff ff 01 bf",
                                           .attributes = {{"StackMapTable", "00 02 00 03"}}});
  EXPECT_EQ(shown.code, "04 leaf(I)V 00 a7 ff ff 01 bf");
  // The frame at offset 0 is behind the call.
  EXPECT_EQ(shown.attributes.at("StackMapTable"), "00 02 04 03");
}

TEST(LeafMethod, IsNoneThatMayRunOtherCode) {
  for (const char* code :
       {"b6 00 00 b1", "b7 00 00 b1", "b8 00 02 b1", "b9 00 00 01 00 b1", "ba 00 00 00 00 b1",
        "bb TT 57 b1", "bd TT b1", "c5 TT 01 b1", "c0 TT b1", "c1 TT b1", "13 TT b1", "12 01 b1",
        "b2 OO b1", "b3 OO b1", "b4 DD b1", "b5 DD b1"}) {
    Constants constants;
    std::string text = code;
    for (const auto& [name, index] :
         {std::pair("TT", constants.type), {"OO", constants.own}, {"DD", constants.other}}) {
      if (const size_t at = text.find(name); at != std::string::npos) text.replace(at, 2, index);
    }
    EXPECT_TRUE(ShowLeaf(constants, {.code = text}).code.starts_with("04 enter(I)J ")) << code;
  }
}

TEST(LeafMethod, IsNoneThatCatches) {
  Constants constants;
  const Shown shown = ShowLeaf(constants, {.max_stack = 1,
                                           .code = "00 b1 57 b1",
                                           .exceptions = {{0, 1, 2, 0}},
                                           .attributes = {{"StackMapTable", "00 01 42 07 00 04"}}});
  EXPECT_TRUE(shown.code.starts_with("04 enter(I)J ")) << shown.code;
}

TEST(LeafMethod, IsNoneWithoutTheDecisionOrWithALabel) {
  Constants plain;
  EXPECT_EQ(ShowLeaf(plain, {.code = "b1"}, {.action = Action::kCount, .id = 1}).code,
            "04 enter(I)J 3f 1e exit(J)V b1");
  Constants labelled;
  const Decision with_label = {
      .action = Action::kCount, .id = 1, .leaves = true, .label = LabelAtEntry{}};
  EXPECT_TRUE(ShowLeaf(labelled, {.code = "b1"}, with_label).code.starts_with("04 enter(I)J "));
}

}  // namespace
}  // namespace jprof::weave
