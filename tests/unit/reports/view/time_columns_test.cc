#include "reports/view/time_columns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace jprof::reports {
namespace {

using model::CounterValue;
using model::Instant;
using model::SliceBegin;
using model::SliceEnd;
using model::TimelineEvent;
using model::Track;

// One thread with a counter, whose events a test gives.
class MadeTimeline : public model::Timeline {
 public:
  static constexpr uint64_t kStart = 1000;
  static constexpr uint32_t kThread = 1, kCounter = 2;

  MadeTimeline() : Timeline(model::ClockId::kMonotonic, kStart, 0) {
    AddTrack({.name = "app", .pid = 7});
    AddTrack({.kind = Track::Kind::kThread, .name = "main", .pid = 7, .tid = 8, .parent = 0});
    AddTrack({.kind = Track::Kind::kCounter, .name = "instructions", .parent = kThread});
  }

  void Add(uint64_t ns, TimelineEvent::What what, uint32_t track = kThread) {
    events_.push_back({.track = track, .ns = kStart + ns, .what = what});
  }
  void Call(uint64_t begin, uint64_t length) {
    Add(begin, SliceBegin{.name = 1, .text = "f", .type = 'R'});
    Add(begin + length, SliceEnd());
  }

  Result<model::Visited> Visit(const OnEvent& on_event) override {
    for (const TimelineEvent& event : events_)
      if (!on_event(event)) break;
    return model::Visited();
  }

 private:
  std::vector<TimelineEvent> events_;
};

nlohmann::json Described(MadeTimeline& timeline, ViewData& data) {
  ViewNames names;
  const auto text = [](const Track& track) {
    return fmt::format("{} ({})", track.name, track.tid);
  };
  EXPECT_TRUE(AddTimeline(timeline, text, names, data));
  return data["timeline"];
}

TEST(TimeColumns, AFewCallsAreAllKept) {
  MadeTimeline timeline;
  timeline.Add(10, SliceBegin{.name = 4, .text = "outer", .type = 'R'});
  timeline.Call(20, 30);
  timeline.Add(60, Instant{"signal"});
  timeline.Add(100, SliceEnd());
  timeline.Add(120, CounterValue{5}, MadeTimeline::kCounter);
  ViewData data("tree", "x");
  const nlohmann::json found = Described(timeline, data);
  EXPECT_EQ(found["tracks"], nlohmann::json({"main (8)"}));
  EXPECT_EQ(found["slices"]["rows"], 2);
  EXPECT_EQ(found["left_out"], 0);
  EXPECT_EQ(found["shortest"], 0);
  EXPECT_EQ(found["end"], 120);
  EXPECT_EQ(found["marks"]["rows"], 1);
  ASSERT_EQ(found["counters"].size(), 1u);
  EXPECT_EQ(found["counters"][0]["track"], 0);
  EXPECT_EQ(found["counters"][0]["value"]["length"], 1);
  EXPECT_TRUE(data["notes"].empty());
}

// 700,000 calls of 1 to 1,000 ns, each length equally often.
TEST(TimeColumns, TheShortestCallsAreLeftOut) {
  MadeTimeline timeline;
  uint64_t at = 0;
  for (int i = 0; i < 700'000; ++i) {
    timeline.Call(at, 1 + static_cast<uint64_t>(i) * 7919 % 1000);
    at += 1000;
  }
  ViewData data("tree", "x");
  const nlohmann::json found = Described(timeline, data);
  EXPECT_EQ(found["shortest"], 572);
  EXPECT_EQ(found["slices"]["rows"], 300'000);
  EXPECT_EQ(found["left_out"], 400'000);
}

TEST(TimeColumns, OfCallsThatTakeTheSameTheOuterOnesAreKept) {
  MadeTimeline timeline;
  for (uint64_t i = 0; i < 200'000; ++i) {
    timeline.Add(10 * i, SliceBegin{.name = 2, .text = "outer", .type = 'R'});
    timeline.Call(10 * i, 5);
    timeline.Add(10 * i + 5, SliceEnd());
  }
  ViewData data("tree", "x");
  const nlohmann::json found = Described(timeline, data);
  EXPECT_EQ(found["slices"]["rows"], 300'000);
  EXPECT_EQ(found["left_out"], 100'000);
}

TEST(TimeColumns, MarksBeyondTheLimitAreNoted) {
  MadeTimeline timeline;
  for (uint64_t i = 0; i < 50'003; ++i) timeline.Add(i, Instant{"system call"});
  ViewData data("tree", "x");
  EXPECT_EQ(Described(timeline, data)["marks"]["rows"], 50'000);
  ASSERT_EQ(data["notes"].size(), 1u);
  EXPECT_EQ(data["notes"][0], "Time: 3 marks are left out, the last ones");
}

TEST(TimeColumns, ACounterKeepsFewValuesAndTheLast) {
  MadeTimeline timeline;
  for (uint64_t i = 0; i <= 1'000'000; ++i)
    timeline.Add(10 * i, CounterValue{i}, MadeTimeline::kCounter);
  ViewData data("tree", "x");
  const size_t kept = Described(timeline, data)["counters"][0]["value"]["length"];
  EXPECT_GT(kept, 10'000u);
  EXPECT_LT(kept, 40'000u);
}

}  // namespace
}  // namespace jprof::reports
