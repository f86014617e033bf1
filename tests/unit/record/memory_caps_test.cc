#include "record/place/memory_caps.h"

#include <gtest/gtest.h>

namespace jprof::record {
namespace {

constexpr uint64_t kMega = 1 << 20, kGiga = 1 << 30;

TEST(LimitMemory, KeepsLimitsThatFit) {
  options::AgentOptions options;
  std::vector<std::string> notes;
  ASSERT_TRUE(LimitMemory(options, {1536 * kMega, true}, false, notes));
  EXPECT_EQ(options.tree_memory, 512 * kMega);
  EXPECT_TRUE(notes.empty());
}

TEST(LimitMemory, LowersTheDefault) {
  options::AgentOptions options;
  std::vector<std::string> notes;
  ASSERT_TRUE(LimitMemory(options, {900 * kMega, false}, false, notes));
  EXPECT_EQ(options.tree_memory, 300 * kMega);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            "--tree-memory 300M instead of 512M: 512M is more than a third of the 900M of "
            "available memory");
}

TEST(LimitMemory, RefusesARequestedLimit) {
  options::AgentOptions options;
  options.tree_memory = 4 * kGiga;
  std::vector<std::string> notes;
  const auto refused = LimitMemory(options, {8 * kGiga, false}, false, notes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::kWrongUse);
  EXPECT_EQ(refused.error().message,
            "--tree-memory 4096M: 4096M is more than a third of the 8192M of available "
            "memory; use 2730M or less, or add --force");
  EXPECT_TRUE(LimitMemory(options, {8 * kGiga, false}, true, notes));
  EXPECT_EQ(options.tree_memory, 4 * kGiga);
  EXPECT_TRUE(LimitMemory(options, {0, false}, false, notes));  // unknown
}

TEST(LimitMemory, ATraceHasItsOwnLimit) {
  options::AgentOptions options;
  options.mode = options::Mode::kTrace;
  options.tree_memory = 100 * kGiga;
  options.trace_memory = 400 * kMega;
  std::vector<std::string> notes;
  EXPECT_TRUE(LimitMemory(options, {1200 * kMega, true}, false, notes));
  const auto refused = LimitMemory(options, {1199 * kMega, true}, false, notes);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("--trace-memory 400M: "));
}

TEST(LimitMemory, ATraceWithoutLimitIsNotKeptInMemory) {
  options::AgentOptions options;
  options.mode = options::Mode::kTrace;
  options.trace_mode = options::TraceMode::kContinuous;
  std::vector<std::string> notes;
  EXPECT_FALSE(LimitMemory(options, {24 * kGiga, true}, false, notes));
  EXPECT_TRUE(LimitMemory(options, {24 * kGiga, true}, true, notes));
  EXPECT_TRUE(LimitMemory(options, {24 * kGiga, false}, false, notes));
}

TEST(ReadMemory, ReportsTheFileSystem) {
  EXPECT_TRUE(ReadMemory("/dev/shm/jprof-not-there/x").holds_files);
  EXPECT_FALSE(ReadMemory("/proc/self").holds_files);
  EXPECT_GT(ReadMemory(".").available, 0u);
}

}  // namespace
}  // namespace jprof::record
