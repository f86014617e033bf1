// Bytes that are no class file: an error or a class file, never a crash.
#include <gtest/gtest.h>

#include "jprof/weave/rewrite.h"
#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

std::vector<uint8_t> ClassWithEverything() {
  ClassBuilder builder;
  builder.Utf8("Ljdk/internal/vm/annotation/IntrinsicCandidate;");
  builder.Add({.descriptor = "(Ljava/lang/Object;J)V",
               .max_locals = 3,
               .code = "03 aa 00 00 00 00 00 18 ff ff ff ff 00 00 00 00 "
                       "00 00 00 17 00 00 00 18 b1 57 b1",
               .exceptions = {{0, 1, 25, 0}, {25, 26, 25, 0}},
               .attributes = {{"LineNumberTable", "00 01 00 02 00 01"},
                              {"RuntimeVisibleTypeAnnotations", "00 01 44 00 00 00 00 01 00 00"},
                              {"LocalVariableTable", "00 01 00 00 00 02 00 01 00 01 00 00"},
                              {"StackMapTable", "00 03 18 40 07 00 02 fb 00 00"}},
               .annotations = "00 02 00 01 00 00 00 05 00 00"});
  builder.Add(
      {.name = "n", .code = "03 ab 00*2 00 00 00 13 00 00 00 01 00 00 00 01 00 00 00 13 b1"});
  return builder.Build();
}

// A result of Weave is a class file that can be woven again.
void Try(const std::vector<uint8_t>& bytes) {
  for (const Action action : {Action::kLeave, Action::kCount, Action::kAnnounce}) {
    const bool answers = action != Action::kAnnounce;
    const auto woven = WeaveAllWith(bytes, action, 40000, answers);
    if (!woven) {
      EXPECT_FALSE(woven.error().message.empty());
    } else if (!woven->bytes.empty()) {
      const auto again = WeaveAllWith(woven->bytes, action, 40000, answers);
      EXPECT_TRUE(again) << again.error().message;
    }
  }
  (void)RewriteUnchanged(bytes);
}

TEST(Malformed, TheClassItselfIsGood) {
  const auto woven = WeaveAllWith(ClassWithEverything(), Action::kCount, 1);
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(woven->counted, 2u);
}

TEST(Malformed, CutOffAtEachByte) {
  const std::vector<uint8_t> good = ClassWithEverything();
  for (size_t size = 0; size < good.size(); ++size) {
    const std::vector<uint8_t> cut(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(WeaveAllWith(cut, Action::kCount, 1)) << size;
    Try(cut);
  }
}

TEST(Malformed, EachByteChanged) {
  const std::vector<uint8_t> good = ClassWithEverything();
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::vector<uint8_t> changed = good;
      changed[at] = static_cast<uint8_t>(changed[at] ^ change);
      Try(changed);
    }
  }
}

TEST(Malformed, ALastConstantWithTwoIndexes) {
  const std::string bytes = FromHex("ca fe ba be 00 00 00 3d 00 02 05 00*8 00 21");
  EXPECT_EQ(ShowCounted(std::vector<uint8_t>(bytes.begin(), bytes.end())).code,
            "malformed class file: its last constant takes two indexes");
}

TEST(Malformed, MessagesNameWhatIsWrong) {
  const auto message = [](const CodeSpec& spec) { return ShowCounted(spec).code; };
  const std::string method = "malformed class file: method m()V: ";
  EXPECT_EQ(message({.code = "ca"}), method + "the instruction at 0 is malformed or cut off");
  EXPECT_EQ(message({.code = "00 11 00"}), method + "the instruction at 1 is malformed or cut off");
  EXPECT_EQ(message({.code = "c4 00 00 00"}),
            method + "the instruction at 0 is malformed or cut off");
  EXPECT_EQ(message({.code = "a7 00 02"}), method + "the jump at 0 leads to no instruction");
  EXPECT_EQ(message({.code = "a7 00 03"}), method + "the jump at 0 leads to no instruction");
  EXPECT_EQ(message({.code = "c8 80 00 00 00"}), method + "the jump at 0 leads to no instruction");
  EXPECT_EQ(message({.code = "11 00 00 b1", .exceptions = {{0, 3, 1, 0}}}),
            method + "an exception handler is not at an instruction");
  EXPECT_EQ(message({.code = "00 b1", .exceptions = {{0, 1, 2, 0}}}),
            method + "an exception handler is not at an instruction");
  EXPECT_EQ(message({.code = "a7 00 03", .exceptions = {{0, 3, 0, 0}}}),
            method + "the jump at 0 leads to no instruction");
  EXPECT_EQ(message({.code = "00 b1", .exceptions = {{1, 1, 0, 0}}}),
            method + "entry 0 of its exception table has a wrong range");
  EXPECT_EQ(message({.code = ""}), method + "its code has 0 bytes");
  const std::vector<uint8_t> none;
  EXPECT_EQ(ShowCounted(none).code, "not a class file: it does not begin with cafebabe");
}

}  // namespace
}  // namespace jprof::weave
