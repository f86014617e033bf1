#include "options/triggers.h"

#include <gtest/gtest.h>

namespace jprof::options {
namespace {

std::string TriggerProblem(std::string_view text) {
  const auto parsed = ParseTriggers(text);
  return parsed ? "" : parsed.error().message;
}

TEST(AgentTriggers, ReadsNamesNumbersAndDefaults) {
  const auto triggers = ParseTriggers("allocated_bytes=1000+Idle+TIME+raw:1:2:0:0:0:PAGE-FAULTS=7");
  ASSERT_TRUE(triggers) << triggers.error().message;
  const std::vector<Trigger> expected = {{TriggerKind::kAllocatedBytes, 1000, ""},
                                         {TriggerKind::kIdle, 10, ""},
                                         {TriggerKind::kTime, 0, ""},
                                         {TriggerKind::kEvent, 7, "raw:1:2:0:0:0:PAGE-FAULTS"}};
  EXPECT_EQ(*triggers, expected);
  EXPECT_EQ(ToString(*triggers), "ALLOCATED_BYTES=1000+IDLE=10+TIME+raw:1:2:0:0:0:PAGE-FAULTS=7");
  EXPECT_EQ(*ParseTriggers(ToString(*triggers)), expected);
}

TEST(AgentTriggers, MetricsDescribeASample) {
  const auto metrics = MetricsOf(
      *ParseTriggers("TIME=10000000+ALLOCATED_BYTES+MONITOR_WAIT=3+WALL=20+raw:1:2:0:0:0:a:b=7"));
  std::string text;
  for (const profile::Metric& m : metrics) {
    text += fmt::format("{} {}{} {} {}\n", m.name, m.unit, m.is_weighted() ? " weighted" : "",
                        m.period.value, m.period.unit);
  }
  EXPECT_EQ(text,
            "samples samples 10000000 ns\n"
            "ALLOCATED_BYTES bytes weighted 524288 bytes\n"
            "ALLOCATED_BYTES.samples samples 524288 bytes\n"
            "MONITOR_WAIT samples 3 events\n"
            "WALL samples 20000000 ns\n"
            "a:b samples 7 events\n");
}

TEST(AgentTriggers, PeriodsNameTheirClock) {
  using enum profile::Period::Clock;
  const auto clock = [](std::string_view text) {
    return MetricsOf(*ParseTriggers(text)).front().period.clock;
  };
  EXPECT_EQ(clock("TIME=10000000"), kCpu);
  EXPECT_EQ(clock("IDLE"), kElapsed);
  EXPECT_EQ(clock("WALL=20"), kElapsed);
  EXPECT_EQ(clock("MONITOR_WAITED"), kUnknown);
  EXPECT_EQ(clock("raw:1:2:0:0:0:a:b=7"), kUnknown);
}

TEST(AgentTriggers, ErrorsNameTheProblem) {
  EXPECT_EQ(TriggerProblem("ALOCATED_BYTES"),
            "there is no event 'ALOCATED_BYTES'; did you mean ALLOCATED_BYTES?");
  EXPECT_EQ(TriggerProblem("IDLE=0"), "'0' is not a number of at least 1: IDLE=N");
  EXPECT_EQ(TriggerProblem("IDLE=10x"), "'10x' is not a number of at least 1: IDLE=N");
  EXPECT_EQ(TriggerProblem("IDLE+idle=3"), "'idle=3' is named twice");
  EXPECT_EQ(TriggerProblem("raw:1:2:0:0:0:X"), "an event needs a period: EVENT=N");
  EXPECT_EQ(
      TriggerProblem(
          "TIME+ALLOCATED_BYTES+ALLOCATIONS+MONITOR_WAIT+MONITOR_WAITED+MONITOR_CONTENDED_ENTERED"),
      "these events add up to more than 8 metrics");
  const std::string unknown = TriggerProblem("TIME+");
  EXPECT_TRUE(unknown.starts_with("there is no event ''; choose from TIME, ALLOCATED_BYTES, "));
  for (const KnownTrigger& known : kTriggers)
    EXPECT_NE(unknown.find(fmt::format(" {}", known.name)), std::string::npos) << unknown;
}

}  // namespace
}  // namespace jprof::options
