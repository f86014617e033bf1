// Distributions of calls: what is subtracted from each, their quantiles against a list of all
// calls, and the report.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "model/sums/distributions.h"
#include "profile/merge/merge.h"
#include "tests/unit/reports/distribution_profile.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

class DistributionTest : public testing::Test {
 protected:
  DistributionTest() : directory_("distribution") {}

  fs::path Written(const DistributionProfile& demo, const char* name = "demo.jprof") {
    const fs::path path = directory_.path() / name;
    fs::remove_all(path);
    profile::SyntheticProfile made = demo.made;
    made.Write(path);
    return path;
  }
  nlohmann::json Json(const fs::path& path, Options options = {},
                      std::optional<calibrate::Table> table = {}) {
    options.format = Format::kJson;
    const Printed printed = Print("distribution", path, options, std::move(table));
    EXPECT_TRUE(printed.result) << printed.result.error().message;
    return nlohmann::json::parse(printed.text);
  }

  TemporaryDirectory directory_;
};

TEST_F(DistributionTest, SumsUpByMethodOrShowsEachContext) {
  const fs::path path = Written(DemoDistributions());
  const nlohmann::json report = Json(path);
  ASSERT_EQ(report["methods"].size(), 1u);
  const nlohmann::json& work = report["methods"][0];
  EXPECT_EQ(work["calls"], 111);
  EXPECT_EQ(work["entered"], 111);
  EXPECT_EQ(work["contexts"], 2);
  EXPECT_EQ(work["cpu_min_ns"], 1000);
  EXPECT_EQ(work["cpu_max_ns"], 1'000'000);
  EXPECT_EQ(work["elapsed_max_ns"], 1'001'000'000);
  EXPECT_NEAR(work["cpu_mean_ns"], (100 * 1000 + 10 * 50'000 + 1'000'000) / 111.0, 0.1);
  EXPECT_EQ(report["unmatched"], nlohmann::json::array({"Demo.missing"}));
  uint64_t calls = 0;
  for (const nlohmann::json& count : work["cpu_calls"]) calls += count.get<uint64_t>();
  EXPECT_EQ(calls, 111u);
  EXPECT_EQ(work["cpu_calls"].size() + 1, report["bucket_from_ns"].size());

  const nlohmann::json contexts = Json(path, {.contexts = true})["contexts"];
  ASSERT_EQ(contexts.size(), 2u);
  EXPECT_EQ(contexts[0]["name"], "Demo.work(I)I < Demo.main()V");
  EXPECT_EQ(contexts[0]["calls"], 101);
  EXPECT_EQ(contexts[1]["name"], "Demo.work(I)I < Demo.other()V < Demo.main()V");
  EXPECT_EQ(contexts[1]["cpu_p50_ns"], 50'000);
}

TEST_F(DistributionTest, TextHasQuantilesAndAHistogram) {
  const Printed text = Print("distribution", Written(DemoDistributions()), {});
  ASSERT_TRUE(text.result);
  const size_t row = text.text.find("       111 ");
  ASSERT_NE(row, std::string::npos) << text.text;
  EXPECT_EQ(text.text.substr(row, text.text.find('\n', row) - row),
            "       111  1.00 us  1.00 us  1.02 us  50.8 us  1.00 ms  14.4 us  1.00 us  50.8 us   "
            "1.00 s   0.0 █     ▅   ▂ Demo.work(int)");
  EXPECT_NE(Unwrapped(text.text).find("no method that was called matches Demo.missing"),
            std::string::npos);
  EXPECT_NE(text.text.find("from 512 ns to 1.05 ms, by factors of 2"), std::string::npos);
}

// The quantile of a list of all calls, which the definition is of.
double ListQuantile(std::vector<double> times, double q) {
  std::ranges::sort(times);
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(times.size())));
  return times[std::max<size_t>(rank, 1) - 1];
}

TEST_F(DistributionTest, QuantilesAreThoseOfAListToAQuarterOfTheirValue) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    DistributionProfile demo;
    std::vector<double> times;
    const int calls = 1 << (random() % 11);
    for (int i = 0; i < calls; ++i) {
      const uint64_t ticks = 1 + (random() >> (random() % 31));
      demo.Add(random() % 2, {{.cpu = ticks, .elapsed = 2 * ticks}});
      times.push_back(static_cast<double>(ticks));
    }
    const nlohmann::json work = Json(Written(demo))["methods"][0];
    for (const auto& [name, q] : {std::pair("p50", 0.5), {"p90", 0.9}, {"p99", 0.99}}) {
      const double listed = ListQuantile(times, q);
      EXPECT_NEAR(work[fmt::format("cpu_{}_ns", name)], listed, 0.2500001 * listed) << calls;
      EXPECT_NEAR(work[fmt::format("elapsed_{}_ns", name)], 2 * listed, 0.5000001 * listed);
    }
    EXPECT_EQ(work["cpu_min_ns"], std::ranges::min(times));
    EXPECT_EQ(work["cpu_max_ns"], std::ranges::max(times));
  }
}

// Each transition of DemoTable() costs 4 ticks.
TEST_F(DistributionTest, CalibrationTakesTheMeanOfEachEventInside) {
  DistributionProfile demo;
  demo.Add(0, std::vector<WatchedCallMade>(10, {.cpu = 1004, .elapsed = 1004}));
  demo.Add(1, {});
  demo.made.distributions.pop_back();
  const nlohmann::json work = Json(Written(demo), {}, DemoTable())["methods"][0];
  EXPECT_NEAR(work["cpu_mean_ns"], 1000, 0.01);
  EXPECT_NEAR(work["cpu_min_ns"], 1000, 0.01);
  EXPECT_NEAR(work["cpu_removed_percent"], 0.4, 0.01);
  EXPECT_NEAR(Json(Written(demo))["methods"][0]["cpu_mean_ns"], 1004, 0.01);
}

TEST_F(DistributionTest, SettingALabelEndsNoInterval) {
  DistributionProfile demo;
  demo.Add(0, std::vector<WatchedCallMade>(10, {.cpu = 1004, .elapsed = 1004}));
  const profile::MethodId label = demo.made.AddMethod("label", "cart", "", profile::kMethodLabel);
  const uint32_t node = demo.made.AddNode(profile::PackMethod(FrameKind::kLabel, label),
                                          demo.made.distributions[0].node);
  demo.made.nodes[node].entries[0] = 1000;
  const nlohmann::json work = Json(Written(demo), {}, DemoTable())["methods"][0];
  EXPECT_NEAR(work["cpu_mean_ns"], 1000, 0.01);
}

TEST_F(DistributionTest, HandlersThatWereNotTimedAloneAreSubtractedFromTheCallsThatHaveThem) {
  DistributionProfile demo;
  // A million events of 5 ticks in one call, and none in another.
  demo.Add(0, {{.cpu = 6'000'000, .elapsed = 6'000'000, .events = 1'000'001, .timed = 1},
               {.cpu = 2'000'000, .elapsed = 2'000'000}});
  demo.made.distributions[0].handler_ticks = 5'000'000;
  const nlohmann::json work = Json(Written(demo))["methods"][0];
  EXPECT_NEAR(work["cpu_min_ns"], 1'000'000, 1);
  EXPECT_NEAR(work["cpu_max_ns"], 2'000'000, 1);
  EXPECT_NEAR(work["cpu_mean_ns"], 1'500'000, 1);
  const Printed text = Print("distribution", Written(demo), {});
  // More than half of what was 6 ms is the profiler's. It is the shorter call all the same.
  EXPECT_NE(text.text.find("<2.00 ms <2.00 ms  2.00 ms"), std::string::npos) << text.text;
}

TEST_F(DistributionTest, QuantilesAscendAlsoWhereMostOfATimeIsSubtracted) {
  DistributionProfile demo;
  // 60 calls of which 1000 handlers of 80 ticks take most, and 40 without any.
  std::vector<WatchedCallMade> calls(
      60, {.cpu = 91'600, .elapsed = 91'600, .events = 1'001, .timed = 1});
  calls.resize(100, {.cpu = 70'000, .elapsed = 95'000});
  demo.Add(0, calls);
  demo.made.distributions[0].handler_ticks = 60 * 1'000 * 80;
  const fs::path path = Written(demo);
  const nlohmann::json work = Json(path)["methods"][0];
  EXPECT_LT(work["cpu_p50_ns"], 20'000);
  EXPECT_NEAR(work["cpu_p90_ns"], 70'000, 1);
  EXPECT_LE(work["cpu_p90_ns"], work["cpu_p99_ns"]);
  EXPECT_LE(work["cpu_p99_ns"], work["cpu_max_ns"]);
  // The bound is no longer than what 90 % of the calls took, though 91.6 us were measured.
  const Printed text = Print("distribution", path, {});
  EXPECT_NE(text.text.find("       100 <70.0 us <70.0 us  70.0 us  70.0 us  70.0 us"),
            std::string::npos)
      << text.text;
}

TEST_F(DistributionTest, MergedOnesAreTheSums) {
  DistributionProfile demo = DemoDistributions();
  const fs::path a = Written(demo, "a.jprof");
  demo.Add(1, {{.cpu = 70, .elapsed = 80}});
  const fs::path b = Written(demo, "b.jprof"), both = directory_.path() / "both.jprof";
  ASSERT_TRUE(profile::Merge({.inputs = {a, b}, .output = both}));
  const nlohmann::json report = Json(both);
  const nlohmann::json& work = report["methods"][0];
  EXPECT_EQ(work["calls"], 223);
  EXPECT_EQ(work["entered"], 223);
  EXPECT_EQ(work["cpu_min_ns"], 70);
  EXPECT_EQ(work["elapsed_min_ns"], 80);
  EXPECT_EQ(work["elapsed_max_ns"], 1'001'000'000);
  EXPECT_EQ(report["unmatched"], nlohmann::json::array({"Demo.missing"}));
  EXPECT_EQ(Json(both, {.contexts = true})["contexts"].size(), 2u);
}

TEST_F(DistributionTest, WhatNoProcessWritesIsLeftOut) {
  const auto damaged = [&](auto damage) {
    DistributionProfile demo = DemoDistributions();
    damage(demo.made.distributions[0]);
    return Json(Written(demo));
  };
  const uint32_t bucket = profile::BucketOf(1000);
  for (const nlohmann::json& report : {
           damaged([&](auto& record) { record.cpu.buckets[bucket].ticks = 1; }),
           damaged([&](auto& record) { record.cpu.buckets[bucket].ticks = 1 << 20; }),
           damaged([&](auto& record) { record.elapsed.buckets[bucket].calls = ~uint64_t{0}; }),
           damaged([&](auto& record) { record.cpu.longest.calls = 0; }),
           damaged([&](auto& record) { record.handler_ticks = INT64_MIN; }),
       }) {
    EXPECT_EQ(report["methods"][0]["calls"], 10);
    ASSERT_EQ(report["damages"].size(), 1u);
    EXPECT_EQ(report["damages"][0], "distributions: distributions are not valid: left out: 1");
  }
  // A process that was killed in the middle of a call's count is no damage.
  for (const nlohmann::json& report : {damaged([](auto& record) { record.elapsed = {}; }),
                                       damaged([](auto& record) { record.cpu = {}; })}) {
    EXPECT_EQ(report["methods"][0]["calls"], 10);
    EXPECT_EQ(report["damages"], nlohmann::json::array());
  }
  EXPECT_EQ(damaged([&](auto& record) { record.cpu.buckets[bucket].ticks += 1000; })["damages"],
            nlohmann::json::array());
  EXPECT_EQ(damaged([](auto& record) { record.node = 12345; })["methods"][0]["calls"], 10);
}

TEST_F(DistributionTest, AProfileWithoutThemIsRefused) {
  const fs::path path = directory_.path() / "plain.jprof";
  DemoProfile().Write(path);
  const Printed printed = Print("distribution", path, {});
  ASSERT_FALSE(printed.result);
  EXPECT_NE(printed.result.error().message.find("--distribution METHOD"), std::string::npos);
}

TEST_F(DistributionTest, AProfileWithoutAnyCallHasNoRows) {
  DistributionProfile demo;
  for (const Format format : {Format::kText, Format::kCsv, Format::kJson, Format::kMarkdown})
    EXPECT_TRUE(Print("distribution", Written(demo), {.format = format}).result);
  EXPECT_EQ(Json(Written(demo))["methods"], nlohmann::json::array());
  EXPECT_FALSE(Print("distribution", Written(demo), {}).text.contains("HISTOGRAM:"));
}

}  // namespace
}  // namespace jprof::reports
