// The calls that tell where a method calls others.
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/weave/class_builder.h"

namespace jprof::weave {
namespace {

using Sites = std::vector<std::pair<uint32_t, uint32_t>>;  // bytecode index and line

// Numbers sites from `first` on, in the order in which they are asked for.
struct SiteList {
  uint32_t first = 1;
  Sites sites = {};

  Ids ids() {
    return {.of_site = [this](uint32_t bci, uint32_t line) {
      sites.emplace_back(bci, line);
      return first + static_cast<uint32_t>(sites.size()) - 1;
    }};
  }
};

Decision CountSites(const Method&) { return {.action = Action::kCount, .id = 1, .sites = true}; }

Shown ShowSites(const std::vector<uint8_t>& bytes, SiteList& list) {
  const auto woven = Weave(bytes, CountSites, list.ids());
  if (!woven) return {.code = woven.error().message};
  if (!woven->skipped.empty()) return {.code = std::string(NameOf(woven->skipped[0].why))};
  EXPECT_EQ(woven->without_sites, 0u);
  return Show(woven->bytes);
}
Shown ShowSites(const CodeSpec& spec, SiteList& list) { return ShowSites(ClassOf(spec), list); }

// The entry, with the caller's node in local variable 0 and the own one in 2, and the end.
constexpr char kSiteEntry[] = "04 enter(I)J 3f current()J 41 ";
constexpr char kSiteEnd[] = "1e exit(J)V b1 b1";

TEST(CallSites, AreToldBeforeEachCall) {
  // Each kind of call; the constants do not exist.
  SiteList list;
  const Shown shown =
      ShowSites({.max_stack = 1,
                 .code = "b6 00 00 b7 00 00 b8 00 02 b9 00 00 01 00 ba 00 00 00 00 b1",
                 .attributes = {{"LineNumberTable", "00 02 00 03 00 2a 00 09 ff ff"}}},
                list);
  EXPECT_EQ(shown.code, std::string(kSiteEntry) +
                            "20 04 site(JI)V b6 00 00 20 05 site(JI)V b7 00 00 "
                            "20 06 site(JI)V ? 20 07 site(JI)V b9 00 00 01 00 "
                            "20 08 site(JI)V ba 00 00 00 00 " +
                            kSiteEnd);
  EXPECT_EQ(list.sites, (Sites{{0, 0}, {3, 42}, {6, 42}, {9, 65535}, {14, 65535}}));
  EXPECT_EQ(shown.max_stack, 4);
  EXPECT_EQ(shown.max_locals, 5);  // two nodes, and what a handler or a return would keep
}

TEST(CallSites, AreNotToldWithoutTheDecisionOrWithoutCalls) {
  EXPECT_EQ(ShowCounted(CodeSpec{.code = "b8 00 02 b1"}).code,
            "04 enter(I)J 3f ? " + std::string(kSiteEnd));
  SiteList list;
  EXPECT_EQ(ShowSites({.code = "00 b1"}, list).code, "04 enter(I)J 3f 00 1e exit(J)V b1");
  EXPECT_TRUE(list.sites.empty());
}

// The VM replaces it, so it is never counted, and nearly every class calls it.
TEST(CallSites, AreNotToldBeforeTheConstructorOfObject) {
  ClassBuilder builder;
  const uint16_t object = builder.Method("java/lang/Object", "<init>", "()V");
  const uint16_t other = builder.Method("app/Base", "<init>", "()V");
  builder.Add({.access = 1,
               .name = "<init>",
               .max_locals = 1,
               .code = fmt::format("2a b7 00 {:02x} 2a b7 00 {:02x} b1", object, other)});
  SiteList list;
  EXPECT_NE(
      ShowSites(builder.Build(), list)
          .code.find(fmt::format("2a b7 00 {:02x} 2a 21 04 site(JI)V b7 00 {:02x}", object, other)),
      std::string::npos);
  EXPECT_EQ(list.sites, (Sites{{5, 0}}));
}

TEST(CallSites, AJumpToOneLeadsToTheCallBeforeIt) {
  SiteList list;
  const Shown shown = ShowSites(
      {.code = "a7 00 03 b8 00 02 b1", .attributes = {{"StackMapTable", "00 01 03"}}}, list);
  EXPECT_EQ(shown.code, std::string(kSiteEntry) + "a7 00 03 20 04 site(JI)V ? " + kSiteEnd);
  // Both nodes are among the locals.
  EXPECT_EQ(shown.attributes.at("StackMapTable").substr(0, 29), "00 02 ff 00 0c 00 02 04 04 00");
}

TEST(CallSites, HandlersKeepTheExceptionBehindBothNodes) {
  SiteList list;
  const Shown shown = ShowSites({.max_stack = 1,
                                 .code = "b8 00 02 b1 57 b1",
                                 .exceptions = {{0, 3, 4, 0}},
                                 .attributes = {{"StackMapTable", "00 01 44 07 00 02"}}},
                                list);
  EXPECT_EQ(shown.code,
            std::string(kSiteEntry) +
                "20 04 site(JI)V ? 1e exit(J)V b1 "
                "3a 04 1e 04 caught(JI)V a7 00 09 3a 04 a7 00 04 57 19 04 57 1e exit(J)V b1 b1");
  // The method's own range, the last one, begins with the call before the site.
  EXPECT_TRUE(shown.exceptions.ends_with("9-17 22")) << shown.exceptions;
}

TEST(CallSites, LinesThatAreMalformedAreUnknown) {
  for (const char* table : {"", "00", "00 02 00 00 00 05 00", "ff ff"}) {
    SiteList list;
    ShowSites({.code = "b8 00 02 b1", .attributes = {{"LineNumberTable", table}}}, list);
    ASSERT_EQ(list.sites.size(), 1u) << table;
  }
}

TEST(CallSites, LinesMayBeInSeveralTablesWithoutOrder) {
  SiteList list;
  ShowSites({.code = "b8 00 02 b8 00 02 b8 00 02 b1",
             .attributes = {{"LineNumberTable", "00 02 00 06 00 03 00 00 00 01"},
                            {"LineNumberTable", "00 01 00 03 00 02"}}},
            list);
  EXPECT_EQ(list.sites, (Sites{{0, 1}, {3, 2}, {6, 3}}));
}

// 8000 bytes are the limit of HotSpot's compilers.
TEST(CallSites, AreLeftOutWhereTheMethodWouldNotBeCompiled) {
  SiteList list;
  const auto woven =
      Weave(ClassOf({.code = "00*7975 b8 00 02 b8 00 02 b8 00 02 b1"}), CountSites, list.ids());
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(woven->counted, 1u);
  EXPECT_EQ(woven->without_sites, 1u);
  EXPECT_TRUE(woven->skipped.empty());
  EXPECT_EQ(Show(woven->bytes).code.find("site("), std::string::npos);
}

// Each large id is a constant: they leave enough of the pool for the methods themselves.
TEST(CallSites, AreLeftOutWhereThePoolIsNearlyFull) {
  ClassBuilder builder;
  builder.FillPool(60'000);
  builder.Add({.code = "b8 00 02 b1"});
  SiteList list{.first = 1 << 20};
  const auto woven = Weave(builder.Build(), CountSites, list.ids());
  ASSERT_TRUE(woven) << woven.error().message;
  EXPECT_EQ(woven->counted, 1u);
  EXPECT_EQ(woven->without_sites, 1u);
}

}  // namespace
}  // namespace jprof::weave
