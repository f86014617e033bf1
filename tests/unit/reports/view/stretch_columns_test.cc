#include "reports/view/stretch_columns.h"

#include <gtest/gtest.h>

#include <vector>

namespace jprof::reports {
namespace {

using model::StopState;
using model::Stretch;

// Two threads on one processor: the first is preempted, runs again, sleeps, and runs to the end;
// the second ends.
model::RecordedEvents SomeEvents() {
  model::RecordedEvents events;
  model::Stretches& all = events.stretches;
  all.duration = 1000;
  all.processors = 1;
  all.counters = {"instructions"};
  all.threads = {{.process = 7,
                  .thread = 7,
                  .name = "main",
                  .process_name = "app",
                  .ended = 1000,
                  .first = 0,
                  .count = 3},
                 {.process = 7,
                  .thread = 8,
                  .name = "",
                  .process_name = "app",
                  .ended = 300,
                  .first = 3,
                  .count = 1}};
  const auto add = [&](Stretch stretch, uint64_t instructions) {
    all.stretches.push_back(stretch);
    all.counted.push_back(instructions);
  };
  add({.begin = 100, .end = 200, .ready = 100, .interrupts = 5, .state = StopState::kRunnable}, 1);
  add({.begin = 300, .end = 400, .ready = 200, .state = StopState::kSleeping}, 70'000);
  add({.begin = 900, .end = 1000, .ready = 850, .waker = 1, .state = StopState::kRuns}, 3);
  add({.begin = 200, .end = 300, .ready = 150, .thread = 1, .state = StopState::kDead}, 4);
  return events;
}

// Returns the sizes in bytes of the values of a column.
size_t BytesOf(const nlohmann::json& column) { return column["bytes"]; }

TEST(Planes, AsManyAsTheLargestNeeds) {
  ViewData data("tree", "x");
  for (const auto& [largest, bytes] : std::vector<std::pair<uint64_t, size_t>>{
           {0, 0}, {1, 1}, {255, 1}, {256, 2}, {1ULL << 40, 6}, {UINT64_MAX, 8}}) {
    const nlohmann::json found = AddPlanes({0, largest, 0}, data);
    EXPECT_EQ(found["bytes"], bytes) << largest;
    EXPECT_EQ(found["data"]["length"], 3 * bytes);
    EXPECT_EQ(found["data"]["type"], "u8");
  }
  EXPECT_EQ(AddPlanes({}, data)["bytes"], 0);
}

TEST(StretchColumns, ThreadsAndTheirTimes) {
  model::RecordedEvents events = SomeEvents();
  ViewNames names;
  ViewData data("timeline", "x");
  AddStretches(events, names, data);
  const nlohmann::json found = data["stretches"];
  EXPECT_EQ(found["rows"], 4);
  EXPECT_EQ(found["end"], 1000);
  EXPECT_EQ(found["threads"], nlohmann::json::parse(R"([
      {"name": "main", "process": "app", "pid": 7, "tid": 7, "program": true, "begin": 100,
       "rows": 3},
      {"name": "thread 8", "process": "app", "pid": 7, "tid": 8, "program": true, "begin": 200,
       "rows": 1}])"));
  EXPECT_EQ(found["reasons"].size(), 15u);
  EXPECT_EQ(found["reasons"][0][0], "preempted");
  EXPECT_EQ(found["reasons"][13][0], "exit");
  const nlohmann::json& columns = found["columns"];
  EXPECT_EQ(BytesOf(columns["duration"]), 1u);  // 100 ns each
  EXPECT_EQ(BytesOf(columns["waited"]), 2u);    // 450 ns from 400 to 850
  EXPECT_EQ(BytesOf(columns["ready"]), 1u);     // 100 ns from 200 to 300
  EXPECT_EQ(BytesOf(columns["interrupts"]), 1u);
  EXPECT_EQ(BytesOf(columns["kernel"]), 0u);
  EXPECT_EQ(BytesOf(columns["context"]), 0u);
  EXPECT_EQ(found["counters"][0]["name"], "instructions");
  EXPECT_EQ(BytesOf(found["counters"][0]["values"]), 3u);
  EXPECT_TRUE(data["notes"].empty());
}

TEST(StretchColumns, TheEndOfALongRecordingIsLeftOut) {
  model::RecordedEvents events;
  model::Stretches& all = events.stretches;
  constexpr size_t kRows = 2'000'100;
  all.duration = 10 * kRows;
  all.processors = 1;
  all.threads = {{.process = 7,
                  .thread = 7,
                  .name = "main",
                  .ended = all.duration,
                  .first = 0,
                  .count = kRows}};
  for (size_t i = 0; i < kRows; ++i)
    all.stretches.push_back(
        {.begin = 10 * i, .end = 10 * i + 4, .ready = 10 * i, .state = StopState::kSleeping});
  ViewNames names;
  ViewData data("timeline", "x");
  AddStretches(events, names, data);
  EXPECT_EQ(data["stretches"]["rows"], 2'000'000);
  EXPECT_EQ(data["stretches"]["end"], 20'000'000);
  ASSERT_EQ(data["notes"].size(), 1u);
  EXPECT_EQ(data["notes"][0],
            "Timeline: the page ends after 20.0 ms: 100 later stretches are left out");
}

}  // namespace
}  // namespace jprof::reports
