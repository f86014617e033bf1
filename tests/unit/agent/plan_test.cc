#include "jprof/setup/plan.h"

#include <gtest/gtest.h>

namespace jprof::agent {
namespace {

using engine::RecordingKind;

Result<setup::Plan> PlanOf(std::string_view text) {
  const auto options = options::ParseAgentOptions(text, "");
  EXPECT_TRUE(options) << text << ": " << options.error().message;
  return setup::MakePlan(*options);
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
      {"callflow,time_every=16", RecordingKind::kSparseTimeTree, true, 0, 1},
      {"callflow,time_every=1", RecordingKind::kTimeTree, true, 0, 1},
      {"calltree", RecordingKind::kCountTree, false, 0, 0},
      {"trace", RecordingKind::kTimeTrace, true, 0, 1},
      {one, RecordingKind::kOneCounter, false, 1, 1},
      {two, RecordingKind::kTwoCounters, false, 2, 2},
      {two + "+raw:1:4:0:0:0:C", RecordingKind::kManyCounters, false, 3, 3},
      {one + "+time", RecordingKind::kTimeAndOneCounter, true, 1, 2},
      {two + "+time", RecordingKind::kTimeAndCounters, true, 2, 3},
      {"objects", RecordingKind::kCountTree, false, 0, 2},
      {"objects,live=exact", RecordingKind::kCountTree, false, 0, 4},
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
  ASSERT_TRUE(session.thread_filter);
  EXPECT_TRUE(session.thread_filter("main"));
  EXPECT_FALSE(session.thread_filter("worker"));
  EXPECT_FALSE(PlanOf("callflow")->session.thread_filter);
}

TEST(Plan, ModesDecideThePartsOfTheRecording) {
  const struct {
    std::string text;
    setup::Source source;
    bool jit_log, sampling, vm_triggers, debug_info, hotspot_probe, jvmti_probe;
  } cases[] = {
      {"callflow", setup::Source::kProbe, false, false, false, false, true, true},
      {"trace,probe=hotspot", setup::Source::kProbe, false, false, false, false, true, false},
      {"callflow,probe=jvmti", setup::Source::kProbe, false, false, false, false, false, true},
      {"callflow,tprof,focus=app", setup::Source::kProbe, true, false, false, false, true, true},
      {"calltree", setup::Source::kProbe, false, false, false, false, true, true},
      {"calltree,sample", setup::Source::kProbe, false, true, false, false, true, true},
      {"scs", setup::Source::kSamples, false, true, true, true, false, false},
      {"scs=IDLE+CLASS_LOAD,tprof", setup::Source::kSamples, false, true, true, true, false, false},
      {"calltree,counter=woven,sample", setup::Source::kWoven, false, true, false, true, false,
       false},
      {"objects,counter=woven", setup::Source::kWoven, false, false, false, false, false, false},
      {"objects,counter=probe", setup::Source::kProbe, false, false, false, false, true, false},
      {"tprof", setup::Source::kNone, true, false, false, false, false, false},
      {"tprof,code,probe=hotspot", setup::Source::kNone, true, false, false, false, false, false},
  };
  for (const auto& expected : cases) {
    const auto plan = PlanOf(expected.text);
    ASSERT_TRUE(plan) << expected.text << ": " << plan.error().message;
    EXPECT_EQ(plan->source, expected.source) << expected.text;
    EXPECT_EQ(plan->has_session(), expected.source != setup::Source::kNone) << expected.text;
    EXPECT_EQ(plan->jit_log, expected.jit_log) << expected.text;
    EXPECT_EQ(plan->sampling, expected.sampling) << expected.text;
    EXPECT_EQ(plan->vm_triggers, expected.vm_triggers) << expected.text;
    EXPECT_EQ(plan->virtual_thread_names, expected.vm_triggers) << expected.text;
    EXPECT_EQ(plan->debug_info, expected.debug_info) << expected.text;
    EXPECT_EQ(plan->hotspot_probe, expected.hotspot_probe) << expected.text;
    EXPECT_EQ(plan->jvmti_probe, expected.jvmti_probe) << expected.text;
  }
}

TEST(Plan, ObjectsHaveAMetricMoreWithRemoved) {
  const auto usual = PlanOf("objects,counter=woven");
  EXPECT_EQ(usual->session.files.metric_count, 2u);
  EXPECT_FALSE(usual->allocations);
  const auto removed = PlanOf("objects,counter=woven,removed");
  EXPECT_EQ(removed->session.files.metric_count, 3u);
  EXPECT_TRUE(removed->allocations);
}

TEST(Plan, WatchesTheMethodsOfADistributionAndKnowsWhichPatternSelectsThem) {
  const auto plan = PlanOf("callflow,distribution=com.acme+-com.acme.Log+com.acme.Cart.total");
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->session.files.distributions);
  const auto& watch = plan->session.watch;
  EXPECT_EQ(watch("com/acme/Cart", "total"), 0b101u);
  EXPECT_EQ(watch("com/acme/Cart", "add"), 0b001u);
  EXPECT_EQ(watch("com/acme/Log", "add"), 0u);
  EXPECT_EQ(watch("java/lang/Object", "wait"), 0u);
  EXPECT_FALSE(PlanOf("callflow")->session.watch);
  EXPECT_FALSE(PlanOf("callflow")->session.files.distributions);
}

TEST(Plan, LimitsCallsToMethodsAndPausesCallsOrSamples) {
  const auto plan = PlanOf("callflow,within=com.acme.Cart,after=7");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->session.gates("com/acme/Cart", "total"), 1u);
  EXPECT_EQ(plan->session.gates("com/acme/Log", "add"), 0u);
  EXPECT_EQ(plan->session.gate_after, 7u);
  EXPECT_FALSE(plan->session.begins_paused);
  EXPECT_TRUE(PlanOf("callflow,nostart")->session.begins_paused);
  EXPECT_FALSE(PlanOf("scs,nostart")->session.begins_paused);
  EXPECT_FALSE(PlanOf("calltree,sample,nostart")->session.begins_paused);
  EXPECT_FALSE(PlanOf("callflow")->session.limited());
}

TEST(Plan, CannotLimitFunctionsOfAProgramWithoutAVm) {
  options::AgentOptions options;
  options.within = *options::ParseFilter("work", options::Names::kMethods);
  EXPECT_NE(setup::MakePlan(options, false).error().message.find("jprof_recording_start()"),
            std::string::npos);
}

TEST(Plan, CannotWatchFunctionsOfAProgramWithoutAVm) {
  options::AgentOptions options;
  options.distribution = *options::ParseFilter("work", options::Names::kMethods);
  EXPECT_NE(setup::MakePlan(options, false).error().message.find("C and C++ functions"),
            std::string::npos);
}

TEST(Plan, RefusesMetricsThatCannotBeRecorded) {
  options::AgentOptions options;
  options.metrics = {"instructions"};
  EXPECT_NE(setup::MakePlan(options).error().message.find("cannot resolve the metric instructions"),
            std::string::npos);
  options.metrics.assign(9, kEvent);
  EXPECT_EQ(setup::MakePlan(options).error().message, "more than 8 metrics");
  options.metrics = {kEvent};
  options.mode = options::Mode::kTrace;
  EXPECT_EQ(setup::MakePlan(options).error().message, "a trace has one metric, time");
}

TEST(Plan, WhatMayBeginInARunningJvm) {
  const struct {
    const char* text;
    int java;
    const char* refusal;  // part of it; empty: possible
  } cases[] = {
      {"scs", 17, ""},
      {"scs=ALLOCATED_BYTES,tprof", 25, ""},
      {"tprof", 25, ""},
      {"callflow", 17, ""},
      {"calltree,focus=app", 23, ""},
      {"callflow", 24, "JDK 24 and later"},
      {"calltree,counter=probe", 25, "`jprof calltree --pid PID`"},
      {"calltree,counter=woven", 25, ""},
      {"trace", 17, "TRACE must begin with the JVM"},
      {"callflow,train", 17, "TRAIN must begin with the JVM"},
      {"callflow,probe=jvmti", 17, "PROBE=jvmti must begin with the JVM"},
      {"objects,counter=probe", 17, "OBJECTS in a running JVM needs woven counting"},
      {"objects,counter=woven", 17, ""},
      {"objects,counter=woven,removed", 25, ""},
      {"calltree,sample,counter=probe", 17, "use --counter woven (COUNTER=woven)"},
      {"calltree,sample,counter=woven", 17, ""},
      {"calltree,sample,counter=woven", 25, ""},
  };
  for (const auto& [text, java, refusal] : cases) {
    const auto options = options::ParseAgentOptions(text, "");
    ASSERT_TRUE(options) << text;
    const auto possible = setup::CheckAttach(*options, java);
    EXPECT_EQ(possible.has_value(), *refusal == '\0') << text << " " << java;
    if (possible) continue;
    EXPECT_TRUE(possible.error().message.contains(refusal)) << text;
  }
}

}  // namespace
}  // namespace jprof::agent
