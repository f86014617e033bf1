// The log of collections, the model of the heap, and how programs are recognised.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "cpo/agents/jvm_heap/gc_log.h"
#include "cpo/agents/jvm_heap/heap_model.h"
#include "cpo/agents/table.h"
#include "cpo/optimize/program_key.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::cpo {
namespace {

constexpr uint64_t kTestMib = uint64_t{1} << 20;

constexpr char kG1[] =
    "[0.005s][info][gc] Using G1\n"
    "[0.125s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) "
    "19M->9M(388M) 20.000ms\n"
    "[0.225s][info][gc] GC(1) Concurrent Mark Cycle 5.123ms\n"
    "[0.226s][info][gc] GC(1) Pause Remark 12M->12M(388M) 1.500ms\n"
    "[0.325s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 49M->11M(388M) 10.000ms\n"
    "[0.425s][info][gc] GC(3) Pause Full (System.gc()) 31M->8M(388M) 30.500ms\n"
    "[2.680s][info][gc,heap,exit] Heap\n"
    "[2.680s][info][gc,heap,exit]  garbage-first heap   total 3186688K, used 10240K [0x1, 0x2)\n"
    "[2.680s][info][gc,heap,exit]   region size 4096K, 187 young (765952K), 6 survivors (24576K)\n"
    "[2.680s][info][gc,heap,exit]  Metaspace       used 85K, committed 320K, reserved 1114112K\n";

TEST(GcLog, OfG1) {
  const GcLog log = ParseGcLog(kG1);
  EXPECT_EQ(log.collector, "G1");
  ASSERT_EQ(log.pauses.size(), 4u);
  EXPECT_EQ(log.YoungCount(), 2u);
  EXPECT_NEAR(log.PauseSeconds(), 0.062, 1e-9);
  EXPECT_EQ(log.used_at_exit, 10 * kTestMib);
  EXPECT_EQ(log.Allocated(), (19 + 40 + 20 + 2) * kTestMib);
  EXPECT_EQ(log.Live(), 8 * kTestMib);
  EXPECT_EQ(log.pauses.front().heap, 388 * kTestMib);
}

TEST(GcLog, OfParallelSumsTheGenerationsAtTheExit) {
  const GcLog log = ParseGcLog(
      "[0.006s][info][gc] Using Parallel\n"
      "[0.200s][info][gc] GC(0) Pause Young (Allocation Failure) 95M->22M(362M) 30.012ms\n"
      "[1.247s][info][gc,heap,exit]  PSYoungGen      total 1579008K, used 20480K [0x1, 0x2)\n"
      "[1.247s][info][gc,heap,exit]   eden space 1555456K, 25% used [0x1,0x2,0x3)\n"
      "[1.247s][info][gc,heap,exit]  ParOldGen       total 258048K, used 10240K [0x1, 0x2)\n");
  EXPECT_EQ(log.collector, "Parallel");
  EXPECT_EQ(log.used_at_exit, 30 * kTestMib);
  EXPECT_EQ(log.Allocated(), (95 + 8) * kTestMib);
  EXPECT_EQ(log.Live(), 22 * kTestMib);
}

TEST(GcLog, OfAKilledOrHostileProgram) {
  EXPECT_TRUE(ParseGcLog("").collector.empty());
  const std::string text(kG1);
  for (size_t end = 0; end < text.size(); ++end) (void)ParseGcLog(text.substr(0, end)).Allocated();
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = text;
    for (int j = 0; j < 20; ++j) bad[random() % bad.size()] = static_cast<char>(random());
    const GcLog log = ParseGcLog(bad);
    EXPECT_GE(log.PauseSeconds(), 0);
    (void)log.Live();
  }
}

// A program that allocates `mib` in pauses of 20 ms for each 20 MiB, with 10 MiB that live.
GcLog SteadyLog(uint64_t pauses) {
  GcLog log = {.collector = "G1", .pauses = {}, .used_at_exit = 0};
  for (uint64_t i = 0; i < pauses; ++i)
    log.pauses.push_back({GcPause::Kind::kYoung, i % 2 == 0 ? 0.010 : 0.030,
                          (i == 0 ? 20 : 30) * kTestMib, 10 * kTestMib, 100 * kTestMib});
  return log;
}

TEST(HeapModel, ChoosesAnEdenThatLeavesATenthOfThePauses) {
  const auto advice = AdviseHeap(SteadyLog(100), {.heap = 4096 * kTestMib, .processors = 2});
  ASSERT_TRUE(advice);
  // 2,000 MiB are allocated: ten pauses need 200 MiB, so 128 MiB, and 16 pauses.
  EXPECT_EQ(advice->options, "-XX:+UseParallelGC -Xmn160m -Xms181m");
  EXPECT_NEAR(advice->low, 84 * 0.010, 1e-9);
  EXPECT_NEAR(advice->high, 84 * 0.020, 1e-9);
  EXPECT_NEAR(advice->saved, 84 * 0.015, 1e-9);
}

TEST(HeapModel, KeepsTheCollectorThatTheUserOrTheLiveBytesNeed) {
  const HeapLimits limits = {
      .heap = 8192 * kTestMib, .processors = 2, .may_choose_collector = false};
  EXPECT_EQ(AdviseHeap(SteadyLog(100), limits)->options, "-Xmn160m -Xms181m");
  GcLog large = SteadyLog(100);
  for (GcPause& pause : large.pauses) {
    pause.before += 2000 * kTestMib;
    pause.after += 2000 * kTestMib;
  }
  EXPECT_FALSE(AdviseHeap(large, {.heap = 8192 * kTestMib, .processors = 2})
                   ->options.starts_with("-XX:+UseParallelGC"));
}

TEST(HeapModel, AdvisesNothingWhereThereIsNothingToGain) {
  EXPECT_FALSE(AdviseHeap(SteadyLog(4), {.heap = 4096 * kTestMib}));
  EXPECT_FALSE(AdviseHeap(SteadyLog(100), {.heap = 20 * kTestMib}));
  EXPECT_FALSE(AdviseHeap(SteadyLog(100), {.heap = 40 * kTestMib}));
  EXPECT_FALSE(AdviseHeap({}, {.heap = 4096 * kTestMib}));
}

TEST(Agents, HaveCompleteRows) {
  EXPECT_FALSE(Agents().empty());
  for (const AgentRow& row : Agents()) {
    EXPECT_EQ(FindAgentRow(row.text.name), &row);
    EXPECT_EQ(row.make()->text().name, row.text.name);
    for (const char* text : {row.text.reads, row.text.models, row.text.directs, row.text.validates})
      EXPECT_GT(std::string_view(text).size(), 5u);
  }
  EXPECT_EQ(FindAgentRow("none"), nullptr);
}

TEST(ProgramKey, KeepsRunsOfComparableWorkTogether) {
  const auto same = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return ArgumentClass(a) == ArgumentClass(b);
  };
  EXPECT_TRUE(same({"sort", "-n", "/tmp/a"}, {"/bin/sort", "-n", "/home/x/a"}));
  EXPECT_TRUE(same({"x", "--seed=1000"}, {"x", "--seed=1023"}));
  EXPECT_FALSE(same({"x", "--seed=1000"}, {"x", "--seed=1024"}));
  EXPECT_FALSE(same({"x", "a", "b"}, {"x", "ab"}));
  EXPECT_FALSE(same({"x", "-n"}, {"x", "-r"}));
  EXPECT_TRUE(same({"x", "99999999999999999999999"}, {"x", "99999999999999999999998"}));
}

TEST(ProgramKey, ChangesWithTheProgram) {
  const TemporaryDirectory folder("cpo-key");
  const std::string script = folder.path() / "script", jar = folder.path() / "app.jar";
  std::ofstream(script) << "#!/bin/sh\n";
  std::ofstream(jar) << "one";
  const ProgramKey first = KeyOfProgram({script, {script}});
  EXPECT_EQ(first.name, "script");
  EXPECT_TRUE(first.identity.starts_with("file:"));
  EXPECT_EQ(first.identity, KeyOfProgram({script, {script, "1"}}).identity);
  std::ofstream(script) << "#!/bin/bash\n";
  EXPECT_NE(first.identity, KeyOfProgram({script, {script}}).identity);
  EXPECT_TRUE(KeyOfProgram({"/proc/self/exe", {"x"}}).identity.starts_with("build-id:"));
}

}  // namespace
}  // namespace jprof::cpo
