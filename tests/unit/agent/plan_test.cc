#include "jprof/agent/plan.h"

#include <gtest/gtest.h>

namespace jprof::agent {
namespace {

using engine::RecordingKind;

Result<Plan> PlanOf(std::string_view text) {
  const auto options = ParseAgentOptions(text, "");
  EXPECT_TRUE(options) << text << ": " << options.error().message;
  return MakePlan(*options);
}

constexpr char kEvent[] = "raw:1:2:0:0:0:PAGE-FAULTS";

TEST(Plan, ModesAndMetricsDecideTheKind) {
  const std::string one = std::string("callflow,metrics=") + kEvent, two = one + "+raw:1:3:0:0:0:B";
  const struct {
    std::string text;
    RecordingKind kind;
    bool clock;
    size_t counters;
    uint32_t columns;
  } cases[] = {
      {"callflow", RecordingKind::kTimeTree, true, 0, 1},
      {"callflow,metrics=dispatches", RecordingKind::kTimeTree, true, 0, 1},
      {"calltree", RecordingKind::kCountTree, false, 0, 0},
      {"trace", RecordingKind::kTimeTrace, true, 0, 1},
      {one, RecordingKind::kOneCounter, false, 1, 1},
      {two, RecordingKind::kTwoCounters, false, 2, 2},
      {two + "+raw:1:4:0:0:0:C", RecordingKind::kManyCounters, false, 3, 3},
      {one + "+time", RecordingKind::kTimeAndOneCounter, true, 1, 2},
      {two + "+time", RecordingKind::kTimeAndCounters, true, 2, 3},
      {"scs=TIME=1000000+ALLOCATED_BYTES", RecordingKind::kCountTree, false, 0, 3},
  };
  for (const auto& [text, kind, clock, counters, columns] : cases) {
    const auto plan = PlanOf(text);
    ASSERT_TRUE(plan) << text << ": " << plan.error().message;
    EXPECT_EQ(plan->kind, kind) << text;
    EXPECT_EQ(plan->session.clock, clock) << text;
    EXPECT_EQ(plan->session.counters.size(), counters) << text;
    EXPECT_EQ(plan->session.files.metric_count, columns) << text;
  }
}

TEST(Plan, OptionsReachTheSession) {
  const auto plan =
      PlanOf("trace,trace_mode=wrap,trace_memory=1M,tree_memory=2M,fold_recursion,threads=+main");
  ASSERT_TRUE(plan) << plan.error().message;
  const engine::SessionOptions& session = plan->session;
  EXPECT_TRUE(session.files.trace);
  EXPECT_EQ(session.files.tree_memory, 2u << 20);
  EXPECT_EQ(session.trace_memory, 1u << 20);
  EXPECT_EQ(session.trace_keep, engine::TraceKeep::kWrap);
  EXPECT_TRUE(session.fold_recursion);
  EXPECT_FALSE(session.some_unprobed);
  ASSERT_TRUE(session.thread_filter);
  EXPECT_TRUE(session.thread_filter("main"));
  EXPECT_FALSE(session.thread_filter("worker"));
  EXPECT_FALSE(PlanOf("callflow")->session.thread_filter);
  EXPECT_TRUE(PlanOf("callflow,focus=app")->session.some_unprobed);
}

TEST(Plan, RefusesMetricsThatCannotBeRecorded) {
  AgentOptions options;
  options.metrics = {"instructions"};
  EXPECT_NE(MakePlan(options).error().message.find("does not know the metric instructions"),
            std::string::npos);
  options.metrics.assign(9, kEvent);
  EXPECT_EQ(MakePlan(options).error().message, "more than 8 metrics");
  options.metrics = {kEvent};
  options.mode = Mode::kTrace;
  EXPECT_EQ(MakePlan(options).error().message, "a trace has one metric, time");
}

}  // namespace
}  // namespace jprof::agent
