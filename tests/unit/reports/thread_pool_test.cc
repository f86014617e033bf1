// What text shows of many threads that do the same.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "model/tree/thread_groups.h"
#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

std::vector<profile::Thread> Named(std::initializer_list<const char*> names) {
  std::vector<profile::Thread> threads;
  for (const char* name : names) threads.push_back({{}, name});
  return threads;
}

std::vector<std::string> Pools(std::initializer_list<const char*> names) {
  const std::vector<profile::Thread> threads = Named(names);
  const model::ThreadGroups made = model::ThreadPools(threads);
  std::vector<std::string> of;
  for (const uint32_t group : made.of_thread) of.push_back(made.groups[group].name);
  return of;
}

TEST(ThreadPools, AreThoseWhoseNamesDifferInTheirNumbers) {
  EXPECT_EQ(Pools({"main", "exec-1", "exec-12", "exec-3"}),
            (std::vector<std::string>{"main", "exec-1", "exec-12", "exec-3"}));
  EXPECT_EQ(Pools({"a-1", "a-2", "b", "a-30", "a-4"}),
            (std::vector<std::string>{"a-*", "a-*", "b", "a-*", "a-*"}));
  EXPECT_EQ(Pools({"w", "w", "w", "w"}), (std::vector<std::string>{"w", "w", "w", "w"}));
  // Two pools are two groups; pools of a thread each are one.
  EXPECT_EQ(Pools({"pool-1-thread-1", "pool-1-thread-2", "pool-1-thread-3", "pool-1-thread-4",
                   "pool-2-thread-1", "pool-3-thread-1", "pool-4-thread-1", "pool-5-thread-1"}),
            (std::vector<std::string>{"pool-1-thread-*", "pool-1-thread-*", "pool-1-thread-*",
                                      "pool-1-thread-*", "pool-*-thread-*", "pool-*-thread-*",
                                      "pool-*-thread-*", "pool-*-thread-*"}));
  EXPECT_EQ(Pools({}), std::vector<std::string>{});
}

class ThreadPool : public testing::Test {
 protected:
  ThreadPool()
      : directory_(fs::path(testing::TempDir()) / ("pool-" + std::to_string(getpid()) + ".jprof")) {
    profile::SyntheticProfile made;
    const profile::MethodId run = made.AddMethod("Worker", "run", "()V");
    const profile::MethodId work = made.AddMethod("Worker", "work", "()V");
    for (int i = 1; i <= kThreads; ++i) {
      const size_t thread =
          made.AddThread("pool-1-thread-" + std::to_string(i), static_cast<uint32_t>(i));
      made.Enter(thread, run, FrameKind::kJitted, 0);
      made.Enter(thread, work, FrameKind::kJitted, 10);
      made.Exit(thread, 90);
      made.Exit(thread, 0);
    }
    made.Write(directory_);
  }
  ~ThreadPool() override { fs::remove_all(directory_); }

  std::string Text(const Options& options) {
    const auto printed = Print("log-rt", directory_, options);
    EXPECT_TRUE(printed.result);
    return printed.text;
  }

  static constexpr int kThreads = 10'000;
  const fs::path directory_;
};

TEST_F(ThreadPool, IsOneRowWithItsNumberOfThreads) {
  const std::string text = Text({});
  EXPECT_NE(text.find(" T:pool-1-thread-* (10000 threads)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("100.0   100 ns  J:Worker.run()\n"), std::string::npos) << text;
  EXPECT_NE(text.find("90.0  90.0 ns   J:Worker.work()\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("more threads"), std::string::npos) << text;
}

TEST_F(ThreadPool, IsNotFoldedIfEachThreadIsWanted) {
  for (const Options& options : {Options{.all = true}, Options{.separate = true, .all = false}}) {
    const std::string text = Text(options);
    EXPECT_EQ(text.find("thread-*"), std::string::npos) << text.substr(0, 1000);
    EXPECT_NE(text.find(options.all ? "pool-1-thread-10000 (tid 10000)" : "10000 more threads"),
              std::string::npos);
  }
  const nlohmann::json root = nlohmann::json::parse(Text({.format = Format::kJson}));
  EXPECT_EQ(root["threads"].size(), size_t{kThreads});
}

}  // namespace
}  // namespace jprof::reports
