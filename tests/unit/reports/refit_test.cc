// A counted profile whose overheads are known, and samples of the same program.
#include "model/combined/refit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;
using enum FrameKind;

constexpr int kMethods = 12;
constexpr int kCalls = 2000;           // of each method
constexpr int64_t kWork = 50'000;      // ns of one call
constexpr int64_t kOverhead = 20'000;  // ns of an interval: large, so that few calls suffice
constexpr int64_t kSampleNanos = 1'000'000;

class Refit : public testing::Test {
 protected:
  Refit() { fs::create_directories(folder_); }
  ~Refit() override { fs::remove_all(folder_); }

  // Method i takes i times kWork for one call; main calls them and does nothing itself.
  void WriteCounted(const std::string& name = "counted", int every = 1) {
    profile::SyntheticProfile counted;
    const std::string options = R"("options":{)";
    counted.meta.replace(counted.meta.find(options), options.size(),
                         options + R"("time_every":)" + std::to_string(every) + ",");
    const profile::MethodId main = counted.AddMethod("Demo", "main", "()V");
    std::vector<profile::MethodId> methods;
    for (int i = 0; i < kMethods; ++i)
      methods.push_back(counted.AddMethod("Demo", "m" + std::to_string(i), "()V"));
    const size_t thread = counted.AddThread("main", 100);
    counted.Enter(thread, main, kRejitted, 0);
    for (int call = 0; call < kCalls; ++call) {
      for (int i = 0; i < kMethods; ++i) {
        counted.Enter(thread, methods[static_cast<size_t>(i)], kRejitted, kOverhead);
        counted.Exit(thread, kOverhead + i * kWork);
      }
    }
    counted.Exit(thread, kOverhead);
    // With a clock as fast as this, the intervals are so short that they are estimated.
    if (every > 1) counted.header.ticks_per_second = 10'000'000'000'000;
    counted.Write(Path(name));
  }

  // `factor`: of the production times in the samples.
  void WriteSampled(const std::string& name, const std::string& class_name = "Demo",
                    double factor = 1, const char* metrics = kTimeMetrics) {
    SampledProfile sampled(metrics, 1);
    const profile::MethodId main = sampled.made.AddMethod(class_name, "main", "()V");
    const size_t thread = sampled.made.AddThread("main", 100);
    for (int i = 1; i < kMethods; ++i) {
      const profile::MethodId method =
          sampled.made.AddMethod(class_name, "m" + std::to_string(i), "()V");
      const auto samples =
          static_cast<int64_t>(factor * static_cast<double>(kCalls * i * kWork / kSampleNanos));
      sampled.Sample(thread, {{main}, {method}}, {samples});
    }
    sampled.Write(Path(name));
  }

  fs::path Path(const std::string& name) const { return folder_ / name; }

  model::Source Open(const std::string& name, std::optional<calibrate::Table> table = {}) const {
    auto reader = profile::Reader::Open(Path(name).string());
    EXPECT_TRUE(reader);
    return {std::move(*reader), std::move(table), "table", "no table: run jprof calibrate"};
  }

  // A table that takes too little: 15,000 ns, which a second training would confirm within 3,000.
  static calibrate::Table Trained() {
    calibrate::Table table = DemoTable();
    for (auto& [key, value] : table.metrics[0].keys) {
      value.overhead = 15'000;
      value.spread = 100;
      value.repeat = 3'000;
      value.context = 3'000;
    }
    return table;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("refit-" + std::to_string(getpid()));
};

TEST_F(Refit, FindsTheOverheadThatTheProgramShowed) {
  WriteCounted();
  WriteSampled("sampled-1");
  WriteSampled("sampled-2");
  model::Source counted = Open("counted", Trained());
  std::vector<model::Source> sampled;
  sampled.push_back(Open("sampled-1"));
  sampled.push_back(Open("sampled-2"));
  const auto refitting = model::RefitToSamples(counted, sampled);
  ASSERT_TRUE(refitting) << refitting.error().message;
  EXPECT_EQ(refitting->methods, 1u + kMethods);
  EXPECT_EQ(refitting->runs, 2u);
  EXPECT_EQ(refitting->uncounted, 0);
  EXPECT_NEAR(refitting->refitted, 2.0 * kMethods * kCalls * kOverhead, 5e7);
  for (const model::RefitKey& key : refitting->keys) {
    EXPECT_EQ(key.trained.overhead, 15'000);
    if (key.events < 1000) continue;
    EXPECT_NEAR(key.overhead, kOverhead, 4 * key.error) << ToString(key.key);
    EXPECT_LT(key.error, 2'000) << ToString(key.key);
  }
}

// What is known less well shows less: the overheads, and what all of them come to.
TEST_F(Refit, EstimatedTimesShowTheOverheadLessWell) {
  WriteCounted("all");
  WriteCounted("some", 64);
  WriteSampled("sampled");
  const auto error = [&](const std::string& name) {
    model::Source counted = Open(name, Trained());
    std::vector<model::Source> sampled;
    sampled.push_back(Open("sampled"));
    const auto refitting = model::RefitToSamples(counted, sampled);
    EXPECT_TRUE(refitting);
    return refitting ? refitting->error : 0;
  };
  EXPECT_GT(error("some"), 1.5 * error("all"));
}

TEST_F(Refit, ReportsUseItAndSaySo) {
  WriteCounted();
  WriteSampled("sampled");
  model::Source counted = Open("counted", Trained());
  std::vector<model::Source> sampled;
  sampled.push_back(Open("sampled"));
  const auto refitting = model::RefitToSamples(counted, sampled);
  ASSERT_TRUE(refitting);
  model::UseRefitted(counted, *refitting);
  const Printed before = Print("methods", Path("counted"), {}, Trained());
  EXPECT_EQ(before.text.find("refitted"), std::string::npos);
  const auto forest = model::LoadForest(counted, {});
  ASSERT_TRUE(forest);
  EXPECT_NEAR(forest->metrics[0].adjust, 2.0 * kMethods * kCalls * kOverhead, 1e8);
  EXPECT_GT(forest->metrics[0].error, 0);
  EXPECT_NE(counted.refitted.find("samples of one run"), std::string::npos) << counted.refitted;
}

TEST_F(Refit, ItHappensWherePossibleUnlessTheTableIsToStay) {
  WriteCounted();
  WriteSampled("sampled");
  WriteSampled("other", "Other");
  const auto refit = [&](const std::string& with, bool as_trained) {
    model::Source counted = Open("counted", Trained());
    counted.as_trained = as_trained;
    std::vector<model::Source> sampled;
    sampled.push_back(Open(with));
    model::RefitIfPossible(counted, sampled);
    return counted;
  };
  const model::Source refitted = refit("sampled", false);
  ASSERT_TRUE(refitted.refit);
  const double truth = static_cast<double>(kOverhead) / 15'000;
  EXPECT_TRUE(refitted.refit->Holds(truth)) << refitted.refitted;
  EXPECT_LT(refitted.refit->high - refitted.refit->low, 0.2);
  EXPECT_EQ(refitted.not_refitted, "");
  const model::Source stays = refit("sampled", true);
  EXPECT_FALSE(stays.refit);
  EXPECT_EQ(stays.refitted + stays.not_refitted, "");
  const model::Source of_other = refit("other", false);
  EXPECT_FALSE(of_other.refit);
  EXPECT_NE(of_other.not_refitted.find("no sampled method in common"), std::string::npos);
  for (const double factor : {0.01, 10.0}) {
    WriteSampled("other-work", "Demo", factor);
    const model::Source of_other_work = refit("other-work", false);
    EXPECT_FALSE(of_other_work.refit) << factor << ": " << of_other_work.refitted;
    EXPECT_TRUE(of_other_work.not_refitted.starts_with("the runs did not do the same work: "));
    fs::remove_all(Path("other-work"));
  }
}

// The counted methods take 20,000 ns an interval and some more, of which a table takes 30,000.
TEST_F(Refit, WithoutSamplesTheProfileBoundsTheTable) {
  WriteCounted();
  calibrate::Table table = Trained();
  for (auto& [key, value] : table.metrics[0].keys) value.overhead = 30'000;
  model::Source counted = Open("counted", table);
  const auto lowered = model::LoadForest(counted, {});
  counted.as_trained = true;
  const auto trained = model::LoadForest(counted, {});
  ASSERT_TRUE(lowered && trained);
  EXPECT_NEAR(trained->metrics[0].adjust, 2.0 * kMethods * kCalls * 30'000, 1e8);
  EXPECT_TRUE(trained->metrics[0].bounds.empty());
  ASSERT_TRUE(lowered->metrics[0].bounds.contains('R'));
  EXPECT_NEAR(lowered->metrics[0].bounds.at('R').factor, 2.0 / 3, 0.07);
  EXPECT_NEAR(lowered->metrics[0].adjust, 2.0 * kMethods * kCalls * kOverhead, 1.2e8);
  EXPECT_EQ(lowered->metrics[0].adjust + lowered->metrics[0].base(), lowered->metrics[0].raw);
}

TEST_F(Refit, ReportsSayThatAnOldTableHasNoEnds) {
  WriteCounted();
  calibrate::Table table = Trained();
  const std::string says = "the error is without overlap and lost inlining";
  const Options options = {.format = Format::kJson};  // the head has the worst facts only
  EXPECT_FALSE(Print("log-rt", Path("counted"), options, table).text.contains(says));
  table.version = 2;
  EXPECT_TRUE(Print("log-rt", Path("counted"), options, table).text.contains(says));
}

TEST_F(Refit, NamesWhatIsMissing) {
  WriteCounted();
  WriteSampled("sampled");
  WriteSampled("other", "Other");
  WriteSampled("elapsed", "Demo", 1,
               R"({"name":"samples","unit":"samples","scale":1,"kind":"samples","period":1000000,)"
               R"("period_unit":"ns","period_clock":"elapsed"})");
  const auto message = [&](const std::string& counted_name, bool with_table,
                           const std::string& sampled_name) {
    model::Source counted =
        Open(counted_name, with_table ? std::optional(Trained()) : std::nullopt);
    std::vector<model::Source> sampled;
    if (!sampled_name.empty()) sampled.push_back(Open(sampled_name));
    const auto refitting = model::RefitToSamples(counted, sampled);
    return refitting ? "none" : refitting.error().message;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(message("counted", true, "sampled"), "none");
  EXPECT_TRUE(has(message("counted", false, "sampled"), "run jprof calibrate"));
  EXPECT_TRUE(has(message("counted", true, ""), "no sampled profile"));
  EXPECT_TRUE(has(message("counted", true, "other"), "no sampled method in common"));
  EXPECT_TRUE(has(message("counted", true, "elapsed"), "no samples of CPU time"));
  EXPECT_TRUE(has(message("counted", true, "counted"), "no samples of CPU time"));
  EXPECT_TRUE(has(message("sampled", true, "sampled"), "no times to refit"));
}

}  // namespace
}  // namespace jprof::reports
