// The report of slow calls: each with exactly its calls, what led to it, and what is missing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/sums/slow_trees.h"
#include "model/tree/names.h"
#include "profile/read/reader_trace.h"
#include "tests/unit/reports/slow_profile.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

class SlowTest : public testing::Test {
 protected:
  SlowTest() : directory_("slow") {}

  fs::path Written(profile::SyntheticProfile made) {
    const fs::path path = directory_.path() / "demo.jprof";
    fs::remove_all(path);
    made.Write(path);
    return path;
  }
  Printed Report(const profile::SyntheticProfile& made, Options options = {}) {
    Printed printed = Print("slow", Written(made), options);
    EXPECT_TRUE(printed.result) << printed.result.error().message;
    return printed;
  }
  nlohmann::json Json(const profile::SyntheticProfile& made) {
    return nlohmann::json::parse(Report(made, {.format = Format::kJson}).text);
  }
  static std::vector<nlohmann::json> OfKind(const nlohmann::json& report, const char* kind) {
    std::vector<nlohmann::json> rows;
    for (const nlohmann::json& row : report["rows"])
      if (row["kind"] == kind) rows.push_back(row);
    return rows;
  }

  TemporaryDirectory directory_;
};

TEST_F(SlowTest, HasTheCallWithItsTree) {
  const nlohmann::json report = Json(DemoSlow());
  EXPECT_TRUE(report["damages"].empty()) << report["damages"];
  const auto calls = OfKind(report, "call");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0]["name"], "Demo.work()V");
  EXPECT_EQ(calls[0]["events"], 8);
  EXPECT_EQ(calls[0]["missing"], 0);
  EXPECT_EQ(calls[0]["complete"], true);
  EXPECT_EQ(calls[0]["start_s"], 0.5);
  EXPECT_EQ(calls[0]["wall_ns"], 30'000'000);
  EXPECT_EQ(calls[0]["off_cpu_ns"], 20'000'000);
  const auto contexts = OfKind(report, "context");
  ASSERT_EQ(contexts.size(), 2u);
  EXPECT_EQ(contexts[0]["name"], "Demo.nap()V");
  EXPECT_EQ(contexts[0]["calls"], 1);
  EXPECT_EQ(contexts[0]["cpu_ns"], 1'000'000);
  EXPECT_EQ(contexts[0]["off_cpu_ns"], 20'000'000);
  EXPECT_EQ(contexts[0]["wall_ns"], 21'000'000);
  EXPECT_EQ(contexts[1]["name"], "Demo.step()V");
  EXPECT_EQ(contexts[1]["calls"], 2);
  EXPECT_EQ(contexts[1]["cpu_ns"], 3'000'000);
  const auto before = OfKind(report, "before");
  ASSERT_EQ(before.size(), 1u);  // main() and the first work() are in a block that is not kept
  EXPECT_EQ(before[0]["name"], "Demo.step()V");
  EXPECT_EQ(before[0]["returned"], true);
}

TEST_F(SlowTest, CallsOfOneMethodBeforeItAreOneRow) {
  const auto before = OfKind(Json(DemoSlow(20)), "before");
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0]["name"], "Demo.step()V");
  EXPECT_EQ(before[0]["calls"], 20);
}

TEST_F(SlowTest, SaysWhatWasAskedAndCounted) {
  for (const char* report : {"slow", "log-gen"}) {
    const Printed printed = Print(report, Written(DemoSlow()), {});
    ASSERT_TRUE(printed.result);
    EXPECT_NE(Unwrapped(printed.text).find("1 of 3 calls of Demo.work lasted 10ms or longer"),
              std::string::npos)
        << printed.text;
  }
  const std::string text = Unwrapped(Report(DemoSlow()).text);
  EXPECT_NE(text.find("#1 J:Demo.work(), at 0.500000 s (2026-01-02T03:04:05.500000Z), worker, 8 "
                      "events"),
            std::string::npos)
      << text;
}

// A name must not change while others are asked for, also of methods that a damaged profile lacks.
TEST_F(SlowTest, NamesOfUnknownMethodsStay) {
  auto reader = profile::Reader::Open(Written(DemoSlow()).string());
  ASSERT_TRUE(reader);
  model::Names names(*reader);
  const std::string_view first = names.Of(profile::MethodId{900'001});
  const std::string_view second = names.In(model::NameForm::kShort, profile::MethodId{900'002});
  EXPECT_EQ(first, "(unknown method 900001)");
  EXPECT_EQ(second, "(unknown method 900002)");
}

// Of a trace that keeps slow calls only marked blocks are read, and what is between is a gap.
TEST_F(SlowTest, ReadsOnlyKeptBlocks) {
  auto reader = profile::Reader::Open(Written(DemoSlow()).string());
  ASSERT_TRUE(reader);
  std::vector<uint64_t> numbers;
  uint64_t missing = 0;
  int64_t waited = 0;
  ASSERT_TRUE(profile::ReadTrace(*reader, [&](const profile::TraceEvent& event) {
    numbers.push_back(event.number);
    missing += event.missing;
    waited += event.waited;
    return true;
  }));
  EXPECT_EQ(numbers, (std::vector<uint64_t>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(missing, 3u);
  EXPECT_EQ(waited, 20'000'000);
}

// A wait may be the last entry of a block: it belongs to the thread's next event.
TEST_F(SlowTest, AWaitGoesToTheNextBlock) {
  const nlohmann::json report = Json(DemoSlow(1, true));
  EXPECT_TRUE(report["damages"].empty()) << report["damages"];
  EXPECT_EQ(report["rows"], Json(DemoSlow())["rows"]);
}

TEST_F(SlowTest, SaysWhatIsMissing) {
  profile::SyntheticProfile demo = DemoSlow();
  demo.slow_calls[0].first_event = 1;  // its entry is in the block that is not kept
  demo.slow_calls[0].flags = profile::kSlowCut;
  demo.header.slow_cut = 1;
  const nlohmann::json report = Json(demo);
  const auto calls = OfKind(report, "call");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0]["missing"], 2);
  EXPECT_EQ(calls[0]["events"], 10);
  EXPECT_EQ(calls[0]["complete"], false);
  EXPECT_EQ(OfKind(report, "context").back()["name"], "(events that are missing)");
  EXPECT_EQ(report["losses"]["slow_cut"], 1);
  EXPECT_NE(Unwrapped(Report(demo).text).find("1 slow call has lost events"), std::string::npos);

  demo = DemoSlow();
  demo.slow_calls[0].flags = profile::kSlowNotKept;
  const nlohmann::json none = Json(demo);
  EXPECT_EQ(OfKind(none, "call")[0]["complete"], false);
  EXPECT_EQ(OfKind(none, "call")[0]["events"], 0);
  EXPECT_EQ(OfKind(none, "call")[0]["wall_ns"], 30'000'000);
  EXPECT_TRUE(OfKind(none, "context").empty());
  EXPECT_NE(Unwrapped(Report(demo).text).find("worker, 0 events: not kept, no space"),
            std::string::npos);
  demo.slow_calls[0].flags = 0;
  demo.slow_calls[0].first_event = demo.slow_calls[0].last_event = 1000;
  EXPECT_NE(Unwrapped(Report(demo).text).find("worker, 0 events: its events cannot be read"),
            std::string::npos);
}

TEST_F(SlowTest, LeavesOutDamagedRecords) {
  const auto damage = [&](auto change) {
    profile::SyntheticProfile demo = DemoSlow();
    change(demo.slow_calls[0]);
    const nlohmann::json report = Json(demo);
    EXPECT_TRUE(OfKind(report, "call").empty());
    EXPECT_EQ(report["damages"],
              nlohmann::json::array({"slow_calls: records are not valid: left out: 1"}));
  };
  damage([](profile::SlowCall& call) { call.thread = 7; });
  damage([](profile::SlowCall& call) { call.item = 1; });
  damage([](profile::SlowCall& call) { call.last_event = 1; });
  damage([](profile::SlowCall& call) { call.kind = profile::SlowKind{9}; });
  damage([](profile::SlowCall& call) { call.wall_ns = ~uint64_t{0}; });
  profile::SyntheticProfile cut = DemoSlow();
  cut.slow_calls.pop_back();
  const fs::path path = Written(cut);
  fs::resize_file(path / profile::kSlowCallsFile, 50);
  const Printed printed = Print("slow", path, {.format = Format::kJson});
  EXPECT_NE(printed.text.find("slow_calls: cut off"), std::string::npos) << printed.text;
  profile::SyntheticProfile unfinished = DemoSlow();  // a process that was killed
  unfinished.slow_calls[0].kind = profile::SlowKind::kUnused;
  EXPECT_TRUE(Json(unfinished)["damages"].empty());
}

TEST_F(SlowTest, NeedsARecordingOfSlowCalls) {
  const Printed printed = Print("slow", Written(DemoProfile(true)), {});
  ASSERT_FALSE(printed.result);
  EXPECT_NE(printed.result.error().message.find("jprof trace --slow METHOD:TIME"),
            std::string::npos);
}

TEST_F(SlowTest, NestedCallsHaveTheSameEvents) {
  profile::SyntheticProfile demo = DemoSlow();
  profile::SlowCall inner = demo.slow_calls[0];  // nap() inside work()
  inner.first_event = 10;
  inner.last_event = 11;
  inner.wall_ns = 21'000'000;
  demo.slow_calls.push_back(inner);
  const auto calls = OfKind(Json(demo), "call");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0]["events"], 8);
  EXPECT_EQ(calls[1]["events"], 2);
  EXPECT_EQ(calls[1]["complete"], true);
}

// A limit of memory is an error, not the end of the process.
TEST_F(SlowTest, RefusesTreesBeyondTheMemory) {
  auto reader = profile::Reader::Open(Written(DemoSlow()).string());
  ASSERT_TRUE(reader);
  EXPECT_FALSE(model::LoadSlowTrees(*reader, 100));
  EXPECT_TRUE(model::LoadSlowTrees(*reader, 100'000));
}

}  // namespace
}  // namespace jprof::reports
