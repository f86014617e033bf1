// The report of locks: its numbers, contexts and cycles, and damaged files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "model/locks/lock_cycles.h"
#include "tests/unit/reports/lock_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

class LogJlm : public testing::Test {
 protected:
  ~LogJlm() override { fs::remove_all(directory_); }

  std::string Text(LockProfile profile, const Options& options) {
    profile.Write(directory_);
    return Reread(options);
  }
  std::string Reread(const Options& options) {
    Printed printed = Print("log-jlm", directory_, options);
    EXPECT_TRUE(printed.result) << printed.result.error().message;
    return printed.text;
  }

  const fs::path directory_ =
      fs::path(testing::TempDir()) / ("locks-" + std::to_string(getpid()) + ".jprof");
};

// The lines of a text report that begin behind the first empty line.
std::string TableOf(const std::string& text) { return text.substr(text.find("\n\n") + 2); }

TEST_F(LogJlm, TextHasTheClassicColumns) {
  const std::string table = TableOf(Text(DemoLocks(), {}));
  EXPECT_EQ(
      table.substr(0, table.find("\n\n")),
      R"( %MISS        GETS      NONREC     SLOW       REC TIER2 TIER3  %UTIL AVER_HTM     WAIT NAME
  16.7          15          12        2         3     -     -   50.0  83.3 ms  6.00 us app.Left
   0.0         100         100        0         0     -     -    0.0  1.00 ns     0 ns app.Quiet
   0.0           9           9        0         0     -     -    0.0  1.56 us     0 ns app.Right)");
}

TEST_F(LogJlm, ContextsSayWhoWaitsForWhom) {
  const std::string table = TableOf(Text(DemoLocks(), {.contexts = true}));
  EXPECT_NE(table.find("   in Main.back\n"), table.npos) << table;
  EXPECT_NE(table.find("   in Main.there < Main.main\n"), table.npos);
  EXPECT_NE(table.find("5.00 us   waits in Main.back for Main.there < Main.main\n"), table.npos);
  EXPECT_NE(table.find("1.00 us   waits in Main.back for an unknown owner\n"), table.npos);
}

TEST_F(LogJlm, ContradictingOrdersOfTheSameObjectsAreACycle) {
  const std::string text = Text(DemoLocks(), {});
  EXPECT_NE(text.find("contradicting orders: 1 cycle\n"), text.npos) << text;
  EXPECT_NE(text.find("The same objects"), text.npos);
  EXPECT_NE(text.find("has app.Left@a\n      in Main.there < Main.main\n    asks for app.Right@b"),
            text.npos);
}

TEST_F(LogJlm, OfOtherObjectsTheyAreOnlyOfTheSameClasses) {
  LockProfile profile = DemoLocks();
  profile.made().locks[1].to_object = 0xc;
  const std::string text = Text(std::move(profile), {});
  EXPECT_NE(text.find("The same classes"), text.npos) << text;
  EXPECT_EQ(text.find("app.Left@"), text.npos);
}

TEST_F(LogJlm, OneOrderIsNoCycle) {
  LockProfile profile = DemoLocks();
  profile.made().locks.erase(profile.made().locks.begin());
  EXPECT_EQ(Text(std::move(profile), {}).find("contradicting"), std::string::npos);
}

TEST_F(LogJlm, JsonHasRowsAndCycles) {
  const auto json =
      nlohmann::json::parse(Text(DemoLocks(), {.format = Format::kJson, .contexts = true}));
  const auto& left = json["locks"][0];
  EXPECT_EQ(left["kind"], "lock");
  EXPECT_EQ(left["lock"], "app/Left");
  EXPECT_EQ(left["gets"], 15);
  EXPECT_EQ(left["rec"], 3);
  EXPECT_EQ(left["hold_ns"], 1'000'002'000);
  EXPECT_TRUE(left["tier2"].is_null());
  EXPECT_EQ(json["elapsed_ns"], 2'000'000'000);
  EXPECT_EQ(json["cycles"][0]["orders"].size(), 2);
  EXPECT_EQ(json["cycles"][0]["orders"][0]["has"]["object"], 0xa);
}

TEST_F(LogJlm, LiteHasNoHoldTimes) {
  LockProfile profile(/*lite=*/true);
  const profile::MethodId main = profile.made().AddMethod("app/Main", "main", "()V");
  const profile::MethodId lock = profile.made().AddMethod("app/L", "", "", profile::kMethodClass);
  const size_t thread = profile.made().AddThread("main", 100);
  profile.Take(thread, {{main}}, lock, 7, {0, 0, 7});
  const std::string csv = Text(std::move(profile), {.format = Format::kCsv});
  EXPECT_NE(csv.find("lock,0.0,7,7,0,0,,,,,0,app/L,,,monitor"), csv.npos) << csv;
}

TEST_F(LogJlm, KindsThatAreNotHeldHaveNoHoldTime) {
  LockProfile profile;
  const profile::MethodId main = profile.made().AddMethod("Main", "main", "()V");
  const profile::MethodId gate =
      profile.made().AddMethod("app/Gate", "", "semaphore", profile::kMethodClass);
  const size_t thread = profile.made().AddThread("main", 100);
  profile.Take(thread, {{main}}, gate, 4, {9, 1, 0, 4});
  const auto row =
      nlohmann::json::parse(Text(std::move(profile), {.format = Format::kJson}))["locks"][0];
  EXPECT_EQ(row["lock"], "app/Gate (semaphore)");
  EXPECT_EQ(row["type"], "semaphore");
  EXPECT_EQ(row["gets"], 4);
  EXPECT_TRUE(row["hold_ns"].is_null());
  EXPECT_TRUE(row["util_percent"].is_null());
}

TEST_F(LogJlm, ReadAndWriteLocksContradictEachOther) {
  LockProfile profile;
  profile::SyntheticProfile& made = profile.made();
  const profile::MethodId main = made.AddMethod("Main", "main", "()V");
  const auto lock = [&](const char* type, const char* kind) {
    return made.AddMethod(type, "", kind, profile::kMethodClass);
  };
  const profile::MethodId plain = lock("Lock", "lock"), read = lock("Two$ReadLock", "read lock"),
                          write = lock("Two$WriteLock", "write lock");
  const size_t thread = made.AddThread("main", 100);
  const auto take = [&](profile::MethodId which) {
    return profile.Take(thread, {{main}}, which, 1, {0, 0, 1, 1});
  };
  using profile::LockEdgeKind;
  made.locks = {{LockEdgeKind::kOrder, take(plain), take(write), 0xa, 0xb, 0, 1, 0},
                {LockEdgeKind::kOrder, take(read), take(plain), 0xb, 0xa, 0, 1, 0}};
  const auto cycles =
      nlohmann::json::parse(Text(std::move(profile), {.format = Format::kJson}))["cycles"];
  ASSERT_EQ(cycles.size(), 1u);
  EXPECT_TRUE(cycles[0]["same_objects"].get<bool>());
}

TEST_F(LogJlm, FilesThatAreCutOffAreNamed) {
  DemoLocks().Write(directory_);
  fs::resize_file(directory_ / profile::kLocksFile, 50);
  EXPECT_NE(Reread({.format = Format::kJson}).find("locks: cut off"), std::string::npos);
}

TEST_F(LogJlm, RelationsThatAreNotValidAreLeftOut) {
  LockProfile profile = DemoLocks();
  profile.made().locks[0].kind = static_cast<profile::LockEdgeKind>(9);
  profile.made().locks[1].from = 1u << 30;
  const std::string json = Text(std::move(profile), {.format = Format::kJson});
  EXPECT_NE(json.find("locks: relations are not valid"), json.npos);
  EXPECT_EQ(nlohmann::json::parse(json)["cycles"].size(), 0);
}

TEST_F(LogJlm, AnotherProfileHasNoLocks) {
  DemoProfile().Write(directory_);
  const Printed printed = Print("log-jlm", directory_, {});
  ASSERT_FALSE(printed.result);
  EXPECT_NE(printed.result.error().message.find("jprof locks"), std::string::npos);
}

// Contexts below each other share what they have in common.
TEST_F(LogJlm, LocksBelowDeepRecursionNeedLittleMemory) {
  constexpr uint32_t kDepth = 1000;
  LockProfile profile;
  profile::SyntheticProfile& made = profile.made();
  const profile::MethodId lock = made.AddMethod("app/L", "", "", profile::kMethodClass);
  const size_t thread = made.AddThread("main", 100);
  std::vector<Frame> stack;
  for (uint32_t depth = 0; depth < kDepth; ++depth) {
    stack.push_back({made.AddMethod("app/Main", depth % 2 ? "odd" : "even", "()V")});
    profile.Take(thread, stack, lock, 1, {0, 0, 1, 1});
  }
  profile.Write(directory_);
  model::Source source{*profile::Reader::Open(directory_.string()), {}, "", ""};
  const auto table = model::LoadLocks(source);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->contexts.size(), kDepth);
  EXPECT_EQ(table->paths.size(), 1 + kDepth);
  EXPECT_EQ(table->PathOf(table->contexts.back(), SIZE_MAX).size(), kDepth);
  EXPECT_EQ(table->PathOf(table->contexts.back(), 3).size(), 3u);
}

TEST(LockCycles, MayBeOfAnyLength) {
  std::vector<model::LockContext> contexts(6);
  for (size_t i = 0; i < contexts.size(); ++i) contexts[i].family = i / 2;
  const std::vector<model::LockOrder> orders = {
      {0, 2, 1, 2}, {3, 4, 2, 3}, {5, 1, 3, 1}, {0, 4, 1, 4}};
  const auto cycles = model::FindCycles(orders, contexts);
  ASSERT_EQ(cycles.size(), 1u);
  EXPECT_TRUE(cycles[0].same_objects);
  EXPECT_EQ(cycles[0].orders.size(), 3u);
}

}  // namespace
}  // namespace jprof::reports
