// Samples in the tree, compared with a map from paths to numbers.
#include "jprof/engine/samples.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "jprof/engine/session.h"

namespace jprof::engine {
namespace {

using profile::MethodOf;
using profile::Node;
using profile::PackMethod;
using profile::TypeOf;

constexpr uint32_t kMetrics = 3;

class Numbers : public MethodSource {  // the method's name is its number
 public:
  bool Describe(uint64_t method, MethodText* text) override {
    *text = {"C", {}, "()V"};
    const int length =
        std::snprintf(text->scratch, sizeof text->scratch, "m%u", static_cast<unsigned>(method));
    text->name = {text->scratch, static_cast<size_t>(length)};
    ++described;
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kInterpreted; }
  int described = 0;
};

using Stack = std::vector<profile::MethodRef>;  // outermost first

class SamplesTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jprof-samples-XXXXXX";
    directory_ = mkdtemp(name);
  }
  void TearDown() override {
    ThreadRegistry::Detach();
    std::filesystem::remove_all(directory_);
  }
  void Start(uint64_t tree_memory) {
    SessionOptions options;
    options.files = {
        .directory = directory_ + "/p", .tree_memory = tree_memory, .metric_count = kMetrics};
    options.clock = false;
    const auto started = session_.Start(std::move(options), &source_);
    ASSERT_TRUE(started) << started.error().message;
    thread_ = session_.threads().CurrentThread();
    ASSERT_NE(thread_, nullptr);
  }
  profile::MethodRef Ref(FrameKind type, uint64_t key) {
    return PackMethod(type, SampledMethod(*thread_, source_, key));
  }

  // The content of the tree, by path; only nodes with a value.
  std::map<Stack, std::array<int64_t, kMetrics>> Tree() {
    std::map<Stack, std::array<int64_t, kMetrics>> all;
    const Node* nodes = session_.writer().nodes();
    for (uint32_t i = 1; i < session_.writer().header()->node_count; ++i) {
      if (nodes[i].ref == profile::kNoMethodRef || TypeOf(nodes[i].ref) == FrameKind::kBlock)
        continue;
      Stack path;
      for (uint32_t at = i; nodes[at].parent != 0; at = nodes[at].parent)
        path.insert(path.begin(), nodes[at].ref);
      const int64_t* extra = session_.writer().extra() + size_t{i} * (kMetrics - 1);
      const std::array<int64_t, kMetrics> values = {nodes[i].self, extra[0], extra[1]};
      if (values == std::array<int64_t, kMetrics>{}) continue;
      for (uint32_t m = 0; m < kMetrics; ++m) all[path][m] += values[m];
    }
    return all;
  }

  std::string directory_;
  Numbers source_;
  Session session_;
  Thread* thread_ = nullptr;
};

TEST_F(SamplesTest, EveryStackIsFoundAgainLikeTheOracle) {
  Start(64 << 20);
  std::mt19937 random(7);
  std::map<Stack, std::array<int64_t, kMetrics>> expected;
  for (int i = 0; i < 20'000; ++i) {
    Stack path;
    const int depth = std::uniform_int_distribution(0, 12)(random);
    for (int d = 0; d < depth; ++d) {
      const auto type = static_cast<FrameKind>(std::uniform_int_distribution(1, 5)(random) % 3 + 1);
      path.push_back(Ref(type, 1 + std::uniform_int_distribution(0, 14)(random) / (d + 1)));
    }
    const uint32_t metric = i % kMetrics;
    const int64_t value = std::uniform_int_distribution(1, 1000)(random);
    const Stack innermost_first(path.rbegin(), path.rend());
    AddToMetric(*thread_, ContextOf(*thread_, thread_->timeline, innermost_first), metric, value,
                kMetrics);
    expected[path][metric] += value;
  }
  EXPECT_EQ(Tree(), expected);
  EXPECT_EQ(thread_->record->overflow, 0u);
}

// A reader requires every node after its parent, also if the row was made after nodes of others.
TEST_F(SamplesTest, ARowMadeLaterHasATreeOfItsOwn) {
  Start(16 << 20);
  const Stack stack = {Ref(FrameKind::kJitted, 1), Ref(FrameKind::kJitted, 2)};
  AddToMetric(*thread_, ContextOf(*thread_, thread_->timeline, stack), 0, 1, kMetrics);
  Timeline row;
  ASSERT_TRUE(session_.timelines().OpenRow("worker", profile::kThreadVirtual, row));
  EXPECT_STREQ(row.record->name, "worker");
  for (uint32_t i = 0; i < 1000; ++i) {
    const Stack deep = {Ref(FrameKind::kJitted, 1 + i % 99), Ref(FrameKind::kJitted, 3 + i / 99)};
    Timeline& timeline = i % 2 == 0 ? row : thread_->timeline;
    AddToMetric(*thread_, ContextOf(*thread_, timeline, deep), 1, 1, kMetrics);
  }
  const Node* nodes = session_.writer().nodes();
  int64_t sums[2] = {};
  for (uint32_t i = 1; i < session_.writer().header()->node_count; ++i) {
    if (nodes[i].ref == profile::kNoMethodRef || TypeOf(nodes[i].ref) == FrameKind::kBlock)
      continue;
    EXPECT_LT(nodes[i].parent, i);
    uint32_t root = i;
    while (nodes[root].parent != 0) root = nodes[root].parent;
    sums[root == row.record->root] += session_.writer().extra()[size_t{i} * (kMetrics - 1)];
  }
  EXPECT_EQ(sums[0], 500);
  EXPECT_EQ(sums[1], 500);
}

TEST_F(SamplesTest, AMethodIsDescribedOnce) {
  Start(1 << 20);
  const profile::MethodId id = SampledMethod(*thread_, source_, 42);
  EXPECT_EQ(SampledMethod(*thread_, source_, 42), id);
  EXPECT_NE(SampledMethod(*thread_, source_, 43), id);
  EXPECT_EQ(source_.described, 2);
}

TEST_F(SamplesTest, AHalfFullTreeFoldsRecursionAndKeepsEverySample) {
  Start(1 << 20);
  std::mt19937 random(7);
  std::map<profile::MethodId, int64_t> expected, kept;
  for (int i = 0; i < 50'000; ++i) {
    Stack innermost_first;
    for (uint32_t d = 0; d < 12; ++d) {
      innermost_first.push_back(Ref(FrameKind::kJitted, 1 + static_cast<uint32_t>(random()) % 5));
    }
    AddToMetric(*thread_, ContextOf(*thread_, thread_->timeline, innermost_first), 0, 1, kMetrics);
    ++expected[profile::MethodOf(innermost_first.front())];
  }
  EXPECT_NE(session_.writer().header()->folded_ticks, 0u);
  EXPECT_EQ(thread_->record->overflow, 0u);
  for (const auto& [path, values] : Tree()) kept[profile::MethodOf(path.back())] += values[0];
  EXPECT_EQ(kept, expected);
}

// Otherwise a thread whose outer frames never change would never leave its first tree.
TEST_F(SamplesTest, NoPathContinuesOnceRecursionIsToBeFolded) {
  Start(1 << 20);
  const uint64_t& folded = session_.writer().header()->folded_ticks;
  const auto take = [&](uint32_t i) {
    const Stack stack = {Ref(FrameKind::kJitted, 1 + i % 999),
                         Ref(FrameKind::kJitted, 1 + i / 999)};
    AddToMetric(*thread_, ContextOf(*thread_, thread_->timeline, stack), 0, 1, kMetrics);
  };
  uint32_t i = 0;
  for (; i < 50'000 && folded == 0; ++i) {
    ASSERT_TRUE(MayReuseNodes(*thread_, thread_->timeline));
    take(i);
  }
  ASSERT_NE(folded, 0u);
  EXPECT_FALSE(MayReuseNodes(*thread_, thread_->timeline));
  take(i);  // from the root: the second tree begins
  EXPECT_TRUE(MayReuseNodes(*thread_, thread_->timeline));
}

TEST_F(SamplesTest, AFullTreeKeepsEverySample) {
  Start(1 << 20);
  int64_t sum = 0;
  for (uint32_t i = 0; i < 50'000; ++i) {
    const Stack stack = {Ref(FrameKind::kJitted, 1 + i % 999), Ref(FrameKind::kJitted, 1 + i / 999),
                         Ref(FrameKind::kJitted, 5000 + i % 7)};
    AddToMetric(*thread_, ContextOf(*thread_, thread_->timeline, stack), 0, 1, kMetrics);
    ++sum;
  }
  int64_t kept = 0;
  for (const auto& [path, values] : Tree()) kept += values[0];
  EXPECT_EQ(kept, sum);
  EXPECT_GT(thread_->record->overflow, 0u);
}

TEST_F(SamplesTest, OnlyTheOutermostClaimHasTheTree) {
  Start(1 << 20);
  {
    const TreeClaim first(*thread_);
    EXPECT_TRUE(first.acquired());
    const TreeClaim second(*thread_);
    EXPECT_FALSE(second.acquired());
  }
  EXPECT_TRUE(TreeClaim(*thread_).acquired());
}

TEST_F(SamplesTest, ForgottenMethodsAreDescribedAgain) {
  Start(1 << 20);
  SampledMethod(*thread_, source_, 42);
  session_.threads().ForgetMethods();
  EXPECT_TRUE(HandleAttention(*thread_));
  SampledMethod(*thread_, source_, 42);
  EXPECT_EQ(source_.described, 2);
}

}  // namespace
}  // namespace jprof::engine
