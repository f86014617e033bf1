#include "options/filter.h"

#include <gtest/gtest.h>

namespace jprof::options {
namespace {

Filter Threads(std::string_view text) {
  auto filter = ParseFilter(text, Names::kThreads);
  EXPECT_TRUE(filter) << text << ": " << filter.error().message;
  return filter.value_or(Filter{});
}

Filter Methods(std::string_view text) {
  auto filter = ParseFilter(text, Names::kMethods);
  EXPECT_TRUE(filter) << text << ": " << filter.error().message;
  return filter.value_or(Filter{});
}

std::string FilterProblem(std::string_view text) {
  const auto filter = ParseFilter(text, Names::kMethods);
  return filter ? "none" : filter.error().message;
}

TEST(AgentFilter, AnEmptyFilterAcceptsEverything) {
  EXPECT_TRUE(Filter{}.AcceptsThread("main"));
  EXPECT_TRUE(Filter{}.AcceptsMethod("a/B", "c"));
}

TEST(AgentFilter, WholeNameWithoutStarPrefixWithOne) {
  EXPECT_TRUE(Threads("main").AcceptsThread("main"));
  EXPECT_FALSE(Threads("main").AcceptsThread("main2"));
  EXPECT_FALSE(Threads("main").AcceptsThread("mai"));
  EXPECT_TRUE(Threads("main*").AcceptsThread("main"));
  EXPECT_TRUE(Threads("main*").AcceptsThread("main2"));
  EXPECT_FALSE(Threads("main*").AcceptsThread("mai"));
  EXPECT_TRUE(Threads("*").AcceptsThread(""));
}

TEST(AgentFilter, WhatMatchesNothingIsTheOppositeOfTheFirstItem) {
  EXPECT_FALSE(Threads("+main").AcceptsThread("other"));
  EXPECT_TRUE(Threads("-main").AcceptsThread("other"));
  EXPECT_FALSE(Threads("-main").AcceptsThread("main"));
}

TEST(AgentFilter, LaterItemsWin) {
  const Filter f = Methods("+com/acme*-com/acme/Gen*+com/acme/General");
  EXPECT_TRUE(f.AcceptsMethod("com/acme/Main", "main"));
  EXPECT_FALSE(f.AcceptsMethod("com/acme/Generated", "x"));
  EXPECT_TRUE(f.AcceptsMethod("com/acme/General", "x"));
  EXPECT_FALSE(f.AcceptsMethod("java/lang/String", "length"));
  EXPECT_FALSE(
      Threads("+w1-w2*").AcceptsThread("w1"));  // one name, "w1-w2": see the sign rule below
  EXPECT_TRUE(Threads("-w*+w1").AcceptsThread("w1"));
}

TEST(AgentFilter, AppIsWhatTheJdkDoesNotOwn) {
  EXPECT_TRUE(Methods("app").AcceptsMethod("com/acme/Main", "main", true));
  EXPECT_FALSE(Methods("app").AcceptsMethod("java/lang/String", "length", false));
  EXPECT_FALSE(Methods("app-com.acme.util.*").AcceptsMethod("com/acme/util/X", "x", true));
  EXPECT_TRUE(Methods("app-com.acme.util.*").AcceptsMethod("com/acme/Main", "x", true));
  EXPECT_TRUE(Methods("app+java.util.*").AcceptsMethod("java/util/Map", "get", false));
  EXPECT_FALSE(Methods("ap*").AcceptsMethod("com/acme/Main", "main", true))
      << "a prefix is not the item app";
}

TEST(AgentFilter, MethodPatternsMatchAClassOrAMethodOfIt) {
  EXPECT_TRUE(Methods("a/B").AcceptsMethod("a/B", "c"));
  EXPECT_TRUE(Methods("a/B.c").AcceptsMethod("a/B", "c"));
  EXPECT_FALSE(Methods("a/B.c").AcceptsMethod("a/B", "cd"));
  EXPECT_FALSE(Methods("a/B").AcceptsMethod("a/Bc", "c"));
  EXPECT_FALSE(Methods("a/B").AcceptsMethod("x/a/B", "c"));
  EXPECT_TRUE(Methods("a/B.<init>").AcceptsMethod("a/B", "<init>"));
  EXPECT_TRUE(Methods("a/B.c*").AcceptsMethod("a/B", "cd"));
  EXPECT_TRUE(Methods("a/B*").AcceptsMethod("a/B$Inner", "x"));
  EXPECT_FALSE(Methods("a/B.c*").AcceptsMethod("a/B", "d"));
}

TEST(AgentFilter, APackageIsItselfAndEverythingBelowIt) {
  for (const char* text : {"com.acme", "com/acme", "com.acme.", "com/acme/", "com.acme.**"}) {
    const Filter f = Methods(text);
    EXPECT_TRUE(f.AcceptsMethod("com/acme/Main", "run")) << text;
    EXPECT_TRUE(f.AcceptsMethod("com/acme/util/deep/Text", "trim")) << text;
    EXPECT_FALSE(f.AcceptsMethod("com/acmeX/Main", "run")) << text;
    EXPECT_FALSE(f.AcceptsMethod("com/Main", "acme")) << text;
    EXPECT_FALSE(f.AcceptsMethod("x/com/acme/Main", "run")) << text;
  }
  const Filter f = Methods("com.acme,-com.acme.util,com.acme.util.Text");
  EXPECT_TRUE(f.AcceptsMethod("com/acme/Main", "run"));
  EXPECT_FALSE(f.AcceptsMethod("com/acme/util/Strings", "trim"));
  EXPECT_TRUE(f.AcceptsMethod("com/acme/util/Text", "trim"));
  EXPECT_FALSE(Methods("-java").AcceptsMethod("java/util/Map", "get"));
  EXPECT_TRUE(Methods("-java").AcceptsMethod("javax/swing/JButton", "paint"));
}

TEST(AgentFilter, AClassIsItselfAndItsNestedClasses) {
  EXPECT_TRUE(Methods("com.acme.Main").AcceptsMethod("com/acme/Main$Inner$1", "run"));
  EXPECT_TRUE(Methods("com.acme.Main$Inner").AcceptsMethod("com/acme/Main$Inner", "run"));
  EXPECT_TRUE(Methods("com.acme.Main.Inner").AcceptsMethod("com/acme/Main$Inner", "run"));
  EXPECT_TRUE(Methods("com.acme.Main.Inner.run").AcceptsMethod("com/acme/Main$Inner", "run"));
  EXPECT_FALSE(Methods("com.acme.Main$Inner").AcceptsMethod("com/acme/Main", "run"));
  EXPECT_FALSE(Methods("com.acme.Main").AcceptsMethod("com/acme/Main2", "run"));
  EXPECT_FALSE(Methods("com.acme.M*").AcceptsMethod("com/acme$Main", "run"))
      << "before a *, a dot is no nested class";
}

TEST(AgentFilter, NotationsOfAMethod) {
  for (const char* text : {"a.B.c", "a/B.c", "a/B/c", "a.B#c", "a.B::c", "a.B.c()", "a.B#c(int)"}) {
    const Filter f = Methods(text);
    EXPECT_TRUE(f.AcceptsMethod("a/B", "c")) << text;
    EXPECT_FALSE(f.AcceptsMethod("a/B", "cd")) << text;
    EXPECT_FALSE(f.AcceptsMethod("a/B", "b")) << text;
    EXPECT_EQ(Methods(ToString(f)), f) << text;
  }
  EXPECT_TRUE(Methods("a.B::<init>").AcceptsMethod("a/B", "<init>"));
  EXPECT_TRUE(Methods("a.B::c*").AcceptsMethod("a/B", "cd"));
  EXPECT_FALSE(Methods("a.B.c").AcceptsMethod("a/B", "c$default$1")) << "another method";
  EXPECT_EQ(Threads("a#b::c(1)").items[0].text, "a#b::c(1)");
}

TEST(AgentFilter, DotsAreTakenAsSlashes) {
  EXPECT_TRUE(Methods("com.acme.Main").AcceptsMethod("com/acme/Main", "run"));
  EXPECT_TRUE(Methods("com.acme.Main.run").AcceptsMethod("com/acme/Main", "run"));
  EXPECT_TRUE(Methods("com.acme.*").AcceptsMethod("com/acme/Main", "run"));
  EXPECT_FALSE(Methods("com.acme.*").AcceptsMethod("com/acmeX/Main", "run"));
  EXPECT_FALSE(Threads("a.b").AcceptsThread("a/b"));
}

TEST(AgentFilter, AStarInAPatternOfMethodsIsAnyText) {
  for (const char* text : {"com.acme.*.find", "*.find", "*find", "com.*.T*.find", "*acme*Table"})
    EXPECT_TRUE(Methods(text).AcceptsMethod("com/acme/db/Table", "find")) << text;
  for (const char* text : {"com.acme.*.fin", "*.Find", "com.*.X*.find", "*acm.*Table", "*.ind"})
    EXPECT_FALSE(Methods(text).AcceptsMethod("com/acme/db/Table", "find")) << text;
  EXPECT_TRUE(Methods("a*ab").AcceptsMethod("aaab/aab", "x")) << "goes back to the last star";
  EXPECT_TRUE(Methods("*Table").AcceptsMethod("com/acme/Table$Row", "next")) << "nested classes";
  EXPECT_EQ(ToString(Methods("a.*.b*")), "+a.%2A.b*");
  EXPECT_EQ(Methods(ToString(Methods("a.*.b*"))), Methods("a.*.b*"));
}

TEST(AgentFilter, SignsInThreadNames) {
  const Filter f = Threads("pool-1-thread*-pool-1-thread-9+-x-y");
  ASSERT_EQ(f.items.size(), 3u);
  EXPECT_EQ(f.items[0].text, "pool-1-thread");
  EXPECT_TRUE(f.items[0].prefix && f.items[0].include);
  EXPECT_EQ(f.items[1].text, "pool-1-thread-9");
  EXPECT_FALSE(f.items[1].include);
  EXPECT_EQ(f.items[2].text, "x-y");
  EXPECT_FALSE(f.items[2].include);
  EXPECT_EQ(Threads("a%2Bb%2C%2A").items[0].text, "a+b,*");
  EXPECT_FALSE(Threads("a%2A").items[0].prefix);
}

TEST(AgentFilter, SignsBetweenMethods) {
  EXPECT_EQ(Methods("a/B-a/C").items.size(), 2u);
  EXPECT_EQ(Methods("a/B+-a/C").items.size(), 2u);
  EXPECT_EQ(Methods("a/package%2Dinfo").items[0].text, "a/package-info");
}

TEST(AgentFilter, Mistakes) {
  EXPECT_EQ(FilterProblem("+"), "there is no pattern after a + or -");
  EXPECT_EQ(FilterProblem("a+"), "there is no pattern after a + or -");
  EXPECT_EQ(FilterProblem("a--b"), "there is no pattern after a + or -");
  EXPECT_EQ(ParseFilter("a*b", Names::kThreads).error().message,
            "a * is only allowed at the end, not in 'a*' (%2A is a literal *)");
  EXPECT_EQ(FilterProblem("a%"), "'%' is not an escape; write %25 for a percent sign");
}

TEST(AgentFilter, ToStringKeepsSignsAndEscapesThem) {
  EXPECT_EQ(ToString(Threads("a-b*-c")), "+a%2Db*+-c");
  EXPECT_EQ(ToString(Methods("-a/B.c")), "-a/B.c");
}

TEST(AgentFilter, EncodeAndDecodeEveryByte) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(Decode(Encode(all)), all);
  EXPECT_FALSE(Encode(all).find_first_of(" ,+'\"\\*\n\t") != std::string::npos);
}

}  // namespace
}  // namespace jprof::options
