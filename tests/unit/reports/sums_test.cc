// What must hold for every profile: totals add up, whatever is hidden, merged or corrected.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/oracle/slow_sums.h"
#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

class Sums : public testing::TestWithParam<unsigned> {
 protected:
  Sums()
      : directory_(fs::path(testing::TempDir()) / ("sums-" + std::to_string(getpid()) + ".jprof")) {
    profile::SyntheticProfile made = RandomProfile(GetParam(), 3, 4000, /*with_trace=*/true);
    for (const profile::Node& node : made.nodes) {
      raw_ += static_cast<double>(node.self);
      calls_ += node.entries[0] + double{1} * node.entries[1];
    }
    made.Write(directory_);
  }
  ~Sums() override { fs::remove_all(directory_); }

  std::string Text(const std::string& report, Options options, Format format = Format::kCsv) {
    options.format = format;
    const Printed printed = Print(report, directory_, options, DemoTable(GetParam()));
    EXPECT_TRUE(printed.result);
    return printed.text;
  }
  std::vector<oracle::CsvRow> Csv(const std::string& report, const Options& options) {
    return oracle::ParseCsv(Text(report, options));
  }

  const fs::path directory_;
  double raw_ = 0;
  double calls_ = 0;
};

// A caller's share is of the method's own value, with the contexts that are below 0.
TEST(MainCaller, HasAShareOfAllContexts) {
  using enum FrameKind;
  profile::SyntheticProfile made;
  const profile::MethodId main = made.AddMethod("A", "main", "()V");
  const profile::MethodId often = made.AddMethod("A", "often", "()V");
  const profile::MethodId leaf = made.AddMethod("A", "leaf", "()V");
  const size_t thread = made.AddThread("main", 1);
  const auto call_leaf = [&](int64_t own) {
    made.Enter(thread, leaf, kJitted, 0);
    made.Exit(thread, own);
  };
  made.Enter(thread, main, kJitted, 0);
  call_leaf(40);
  made.Enter(thread, often, kJitted, 0);
  call_leaf(80);
  made.Enter(thread, often, kJitted, 0);  // recursion, in which the leaf is below 0
  call_leaf(-20);
  const fs::path directory =
      fs::path(testing::TempDir()) / ("caller-" + std::to_string(getpid()) + ".jprof");
  made.Write(directory);
  const std::string text = Print("methods", directory, {}).text;
  fs::remove_all(directory);
  EXPECT_NE(text.find("J:A.leaf() < A.often 60 %\n"), std::string::npos) << text;
}

// Values print with one decimal, so a sum over n rows may be off by n / 20.
double Rounding(const std::vector<oracle::CsvRow>& rows) {
  return static_cast<double>(rows.size()) / 20 + 1e-6;
}

TEST_P(Sums, BaseAndAdjustAreRawWhateverIsShown) {
  const Options shown[] = {
      {},
      {.merged = true},
      {.min_percent = 5},
      {.depth = 3},
      {.sort = model::Sort::kBase},
      {.merged = true, .sort = model::Sort::kCalls, .min_percent = 1, .depth = 4}};
  for (const Options& options : shown) {
    const auto rows = Csv("log-rt", options);
    EXPECT_EQ(oracle::Total(rows, "raw:time"), raw_);
    EXPECT_EQ(oracle::Total(rows, "calls"), calls_);
    EXPECT_NEAR(oracle::Total(rows, "base:time") + oracle::Total(rows, "adjust:time"), raw_,
                2 * Rounding(rows));
    EXPECT_GT(oracle::Total(rows, "adjust:time"), 0);
  }
}

TEST_P(Sums, CallsMadeAreCallsOfTheChildren) {
  const auto rows = Csv("log-rt", {});
  std::map<std::string, double> children;
  for (const auto& row : rows) children[row.fields.at("parent")] += row.number("calls");
  for (const auto& row : rows) EXPECT_EQ(row.number("cee"), children[row.fields.at("id")]);
}

TEST_P(Sums, SiblingsAreOneRowAMethodAndStandAsFirstCalled) {
  for (const bool merged : {false, true}) {
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& row : Csv("log-rt", {.merged = merged})) {
      if (row.fields.at("level") == "0") continue;
      EXPECT_TRUE(seen.insert({row.fields.at("parent"), row.fields.at("name")}).second);
    }
  }
}

TEST_P(Sums, MergingThreadsKeepsEveryPathsCalls) {
  const auto by_path = [](const std::vector<oracle::CsvRow>& rows) {
    std::map<std::string, std::string> path;  // id -> path without the thread
    std::map<std::string, double> calls;
    for (const auto& row : rows) {
      const std::string& id = row.fields.at("id");
      if (row.fields.at("level") != "0")
        path[id] = path[row.fields.at("parent")] + "/" + row.fields.at("name");
      calls[path[id]] += row.number("calls");
    }
    return calls;
  };
  EXPECT_EQ(by_path(Csv("log-rt", {})), by_path(Csv("log-rt", {.merged = true})));
}

TEST_P(Sums, CumulativeIsWhatTheSlowWaySays) {
  const auto rows = Csv("log-rt", {.cumulative = true});
  const auto sums = oracle::Cumulative(rows, "base:time");
  for (const auto& row : rows) {
    EXPECT_NEAR(row.number("cumulative:time"), sums.at(row.fields.at("id")), Rounding(rows));
  }
  for (const auto& method : Csv("methods", {})) {
    const std::string& name = method.fields.at("name");
    if (name.starts_with("(")) continue;
    EXPECT_NEAR(method.number("cumulative:time"), oracle::MethodCumulative(rows, name, "base:time"),
                Rounding(rows));
  }
}

TEST_P(Sums, MethodsAddUpToTheTree) {
  const auto rows = Csv("methods", {});
  EXPECT_EQ(oracle::Total(rows, "raw:time"), raw_);
  EXPECT_EQ(oracle::Total(rows, "calls"), calls_);
}

TEST_P(Sums, TraceAndTreeAgreeOnEveryCount) {
  std::map<std::string, double> traced, counted;
  for (const auto& row : Csv("log-gen", {}))
    traced[row.fields.at("name")] += row.fields.at("event") == "entry";
  for (const auto& row : Csv("methods", {})) {
    if (!row.fields.at("name").starts_with("("))
      counted[row.fields.at("name")] = row.number("calls");
  }
  EXPECT_EQ(traced, counted);
}

TEST_P(Sums, JsonSaysTheSameAsCsvParentsFirst) {
  for (const Options& options : {Options{}, Options{.merged = true}, Options{.depth = 2}}) {
    const nlohmann::json json = nlohmann::json::parse(Text("log-rt", options, Format::kJson));
    std::set<uint64_t> ids;
    double calls = 0, base = 0;
    for (const auto& thread : json["threads"]) {
      for (const auto& node : thread["nodes"]) {
        EXPECT_TRUE(ids.insert(node["id"].get<uint64_t>()).second);
        if (node["level"] == 0) {
          EXPECT_TRUE(node["parent"].is_null());
        } else {
          EXPECT_TRUE(ids.contains(node["parent"].get<uint64_t>()));
        }
        calls += node["calls"].get<double>();
        base += node["base"][0].get<double>();
      }
    }
    EXPECT_EQ(calls, calls_);
    EXPECT_NEAR(base, oracle::Total(Csv("log-rt", options), "base:time"), 1e-6);
    EXPECT_EQ(json["metrics"][0]["calibrated"], true);
    EXPECT_EQ(json["losses"]["healed"], 0);
  }
  EXPECT_TRUE(nlohmann::json::accept(Text("methods", {}, Format::kJson)));
  EXPECT_TRUE(nlohmann::json::accept(Text("log-gen", {}, Format::kJson)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Sums, testing::Values(1u, 2u, 3u));

}  // namespace
}  // namespace jprof::reports
