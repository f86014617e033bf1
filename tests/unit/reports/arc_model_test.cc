#include "model/itrace/arc_model.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "model/itrace/arc_sums.h"
#include "model/itrace/run_counts.h"
#include "tests/unit/reports/arc_simulation.h"

namespace jprof::reports {
namespace {

using profile::Branch;
using Kind = profile::BranchKind;
using Path = ArcSimulation::Path;

model::ArcTrace Walk(const std::vector<Branch>& branches, const model::ArcWalk::Locate& locate) {
  model::ArcWalk walk(locate);
  for (const Branch& branch : branches) walk.Add(branch);
  return walk.Take();
}

std::map<Path, ArcSimulation::Sums> ContextsOf(const model::ArcTrace& trace) {
  std::map<Path, ArcSimulation::Sums> contexts;
  std::vector<Path> paths;
  for (const model::ArcNode& node : trace.nodes) {
    paths.push_back(node.parent == 0xffffffffu ? Path() : paths[node.parent]);
    paths.back().push_back(node.function);
    const ArcSimulation::Sums sums = {node.calls, node.self, node.repeats, node.system_calls};
    if (sums != ArcSimulation::Sums()) contexts[paths.back()] = sums;
  }
  return contexts;
}

class Simulations : public testing::TestWithParam<unsigned> {};

TEST_P(Simulations, TheTreeIsThatOfTheProgram) {
  const ArcSimulation program(GetParam(), 3000);
  const model::ArcTrace trace = Walk(program.branches, ArcSimulation::Locate);
  EXPECT_EQ(ContextsOf(trace), program.contexts);
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> calls;
  for (const auto& [arc, count] : trace.calls)
    calls[{static_cast<uint32_t>(arc >> 32), static_cast<uint32_t>(arc)}] = count;
  EXPECT_EQ(calls, program.calls);
  EXPECT_EQ(trace.beyond, 0u);
}

// By the definition: the instructions of a path count once for each function on it, and for the
// arc to the first place of each.
TEST_P(Simulations, SumsAreThoseOfTheirDefinitions) {
  const ArcSimulation program(GetParam(), 3000);
  const model::ArcTrace trace = Walk(program.branches, ArcSimulation::Locate);
  std::map<uint32_t, uint64_t> self, cumulative, called;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> arcs;
  for (const auto& [path, sums] : program.contexts) {
    self[path.back()] += sums.self;
    called[path.back()] += sums.calls;
    std::set<uint32_t> seen;
    for (size_t i = 0; i < path.size(); ++i) {
      if (!seen.insert(path[i]).second) continue;
      cumulative[path[i]] += sums.self;
      if (i > 0) arcs[{path[i - 1], path[i]}] += sums.self;
    }
  }
  const model::ArcSums sums = model::SumUp(trace, 200);
  for (uint32_t function = 0; function < sums.functions.size(); ++function) {
    EXPECT_EQ(sums.functions[function].self, self[function]) << function;
    EXPECT_EQ(sums.functions[function].cumulative, cumulative[function]) << function;
    EXPECT_EQ(sums.functions[function].calls, called[function]) << function;
  }
  for (const model::ArcSum& arc : sums.arcs) {
    EXPECT_EQ(arc.instructions, (arcs[{arc.caller, arc.callee}])) << arc.caller << arc.callee;
    EXPECT_EQ(arc.calls, (program.calls.contains({arc.caller, arc.callee})
                              ? program.calls.at({arc.caller, arc.callee})
                              : 0));
  }
}

TEST_P(Simulations, NothingIsLost) {
  const ArcSimulation program(GetParam(), 2000);
  const model::ArcTrace trace = Walk(program.branches, ArcSimulation::Locate);
  uint64_t all = 0;
  for (const Branch& branch : program.branches) all += branch.instructions;
  const model::ArcSums sums = model::SumUp(trace, 200);
  uint64_t self = 0;
  for (const model::FunctionSums& function : sums.functions) self += function.self;
  EXPECT_EQ(self, all);
  EXPECT_EQ(sums.functions[model::kThreadFunction].cumulative, all);
  EXPECT_EQ(trace.instructions, all);
  std::map<uint32_t, uint64_t> into;
  for (const model::ArcSum& arc : sums.arcs) into[arc.callee] += arc.instructions;
  for (const auto& [function, instructions] : into)
    EXPECT_EQ(instructions, sums.functions[function].cumulative) << function;
}

// Functions end in the reverse order of their begin, and calls are those of the tree.
TEST_P(Simulations, ChangesOfTheStackAreTheCallsOfTheTree) {
  const ArcSimulation program(GetParam(), 3000);
  std::map<uint32_t, uint64_t> calls;
  std::vector<uint32_t> open;
  model::ArcWalk walk(ArcSimulation::Locate, {}, [&](const model::StackChange& change) {
    calls[change.function] += change.kind == model::StackChange::Kind::kCall;
    if (change.kind != model::StackChange::Kind::kEnd) return open.push_back(change.function);
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(open.back(), change.function);
    open.pop_back();
  });
  for (const Branch& branch : program.branches) walk.Add(branch);
  EXPECT_TRUE(open.empty());
  std::map<uint32_t, uint64_t> expected;
  for (const auto& [path, sums] : program.contexts) expected[path.back()] += sums.calls;
  expected.erase(model::kThreadFunction);
  EXPECT_EQ(calls, expected);
}

// Records that no program makes: the walk must not fail, and loses nothing.
TEST_P(Simulations, DamagedRecordsLoseNothing) {
  std::mt19937 random(GetParam());
  std::vector<Branch> branches;
  uint64_t all = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto address = [&]() -> uint64_t {
      return random() % 8 == 0 ? ArcSimulation::kStubs + random() % 160 : random() % 0xa000;
    };
    branches.push_back({.pid = 1,
                        .tid = static_cast<uint32_t>(random() % 3),
                        .kind = static_cast<Kind>(random() % 10),
                        .from = address(),
                        .to = address(),
                        .instructions = random() % 100});
    all += branches.back().instructions;
  }
  const model::ArcTrace trace = Walk(branches, ArcSimulation::Locate);
  const model::ArcSums sums = model::SumUp(trace, 200);
  EXPECT_EQ(sums.functions[model::kThreadFunction].cumulative, all);
  const model::ArcTrace merged = model::MergeThreads(trace);
  EXPECT_EQ(model::SumUp(merged, 200).functions[model::kThreadFunction].cumulative, all);
}

TEST_P(Simulations, MergedThreadsAreOneTree) {
  const ArcSimulation program(GetParam(), 1000);
  std::vector<Branch> branches = program.branches;
  for (Branch branch : program.branches) {
    branch.tid = 99;
    branches.push_back(branch);
  }
  std::map<Path, ArcSimulation::Sums> twice = program.contexts;
  for (auto& [path, sums] : twice)
    sums = {2 * sums.calls, 2 * sums.self, 2 * sums.repeats, 2 * sums.system_calls};
  EXPECT_EQ(ContextsOf(model::MergeThreads(Walk(branches, ArcSimulation::Locate))), twice);
}

INSTANTIATE_TEST_SUITE_P(Random, Simulations, testing::Range(1u, 21u));

// Functions a = 2, b = 3, ... at number * 0x1000; stubs of module 1, the resolver and code without
// symbols.
class ArcWalkTest : public testing::Test {
 protected:
  static constexpr uint64_t kA = 0x2000, kB = 0x3000, kC = 0x4000, kStub = 0x900020;
  static constexpr uint64_t kUnnamed = 0xa00000, kResolver = 0xb00000;

  static model::CodeAt Locate(uint32_t pid, uint64_t address, uint64_t time) {
    if (address >= kResolver)
      return {.function = 60, .module = 2, .start = kResolver, .entry = address == kResolver};
    if (address >= kUnnamed)
      return {.function = 50, .module = 1, .kind = model::CodeAt::Kind::kUnnamed};
    return ArcSimulation::Locate(pid, address, time);
  }

  void Add(Kind kind, uint64_t from, uint64_t to, uint64_t instructions = 1) {
    branches_.push_back({.pid = 1,
                         .tid = 1,
                         .kind = kind,
                         .from = from,
                         .to = to,
                         .instructions = kind == Kind::kBegin ? 0 : instructions});
  }
  // "2/3": the instructions of each path with any.
  std::map<std::string, uint64_t> Self() {
    trace_ = Walk(branches_, Locate);
    std::map<std::string, uint64_t> self;
    for (const auto& [path, sums] : ContextsOf(trace_)) {
      std::string text;
      for (size_t i = 1; i < path.size(); ++i) text += (i > 1 ? "/" : "") + std::to_string(path[i]);
      if (sums.self > 0) self[text] = sums.self;
    }
    return self;
  }
  uint64_t Calls(uint64_t caller, uint64_t callee) {
    const auto found = trace_.calls.find(caller << 32 | callee);
    return found == trace_.calls.end() ? 0 : found->second;
  }

  std::vector<Branch> branches_;
  model::ArcTrace trace_;
};

using Instructions = std::map<std::string, uint64_t>;

TEST_F(ArcWalkTest, AFirstCallThroughTheLinkageIsOfItsCaller) {
  Add(Kind::kBegin, 0, kA);
  Add(Kind::kCall, kA + 0x20, kStub, 10);
  Add(Kind::kJump, kStub, kStub + 6);
  Add(Kind::kJump, kStub + 11, kUnnamed, 2);  // the head of the linkage
  Add(Kind::kJump, kUnnamed + 9, kResolver, 2);
  Add(Kind::kCall, kResolver + 0x50, kC, 30);
  Add(Kind::kReturn, kC + 0x10, kResolver + 0x55, 40);
  Add(Kind::kJump, kResolver + 0x90, kB, 50);  // not a return
  Add(Kind::kReturn, kB + 0x40, kA + 0x25, 60);
  Add(Kind::kEnd, kA + 0x30, 0, 5);
  EXPECT_EQ(Self(), (Instructions{{"2", 20}, {"2/60", 80}, {"2/60/4", 40}, {"2/3", 60}}));
  EXPECT_EQ(Calls(2, 3), 1u);
  EXPECT_EQ(Calls(2, 60), 1u);
  EXPECT_EQ(Calls(60, 3), 0u);
  EXPECT_EQ(trace_.left, 0u);
}

TEST_F(ArcWalkTest, ATailCallThroughTheLinkage) {
  Add(Kind::kBegin, 0, kA);
  Add(Kind::kCall, kA + 0x20, kC);
  Add(Kind::kJump, kC + 4, kStub, 7);
  Add(Kind::kJump, kStub, kB);
  Add(Kind::kReturn, kB + 9, kA + 0x25, 5);
  Add(Kind::kEnd, kA + 0x26, 0);
  EXPECT_EQ(Self(), (Instructions{{"2", 2}, {"2/4", 8}, {"2/4/3", 5}}));
  EXPECT_EQ(Calls(4, 3), 1u);
}

TEST_F(ArcWalkTest, RunningOnIntoAFunctionIsACallOfIt) {
  Add(Kind::kBegin, 0, kA + 0xff0);
  Add(Kind::kTaken, kB + 0x10, kB + 0x20, 8);
  EXPECT_EQ(Self(), (Instructions{{"2/3", 8}}));
  EXPECT_EQ(Calls(2, 3), 1u);
  EXPECT_EQ(Calls(0, 2), 0u);  // tracing began in its middle
}

TEST_F(ArcWalkTest, ReturnsBeyondTheBeginning) {
  Add(Kind::kBegin, 0, kA + 0x10);
  Add(Kind::kReturn, kA + 0x20, kB + 0x30, 3);
  Add(Kind::kCall, kB + 0x40, kA, 2);
  Add(Kind::kEnd, kA + 1, 0, 1);
  EXPECT_EQ(Self(), (Instructions{{"2", 3}, {"3", 2}, {"3/2", 1}}));
  EXPECT_EQ(trace_.beyond, 1u);
}

TEST_F(ArcWalkTest, ALongJumpLeavesTheFramesAbove) {
  Add(Kind::kBegin, 0, kA);
  Add(Kind::kCall, kA + 0x20, kB);
  Add(Kind::kCall, kB + 0x20, kC);
  Add(Kind::kJump, kC + 0x30, kA + 0x100, 4);
  Add(Kind::kCall, kA + 0x120, kC, 6);
  EXPECT_EQ(Self(), (Instructions{{"2", 7}, {"2/3", 1}, {"2/3/4", 4}}));
  EXPECT_EQ(trace_.left, 2u);
}

// An adapter returns by a jump behind the call.
TEST_F(ArcWalkTest, AJumpBehindACallReturns) {
  Add(Kind::kBegin, 0, kA);
  Add(Kind::kCall, kA + 0x20, kB);
  Add(Kind::kCall, kB + 0x20, kA);
  Add(Kind::kCall, kA + 0x40, kC);
  Add(Kind::kJump, kC + 8, kB + 0x25);
  Add(Kind::kEnd, kB + 0x26, 0, 9);
  EXPECT_EQ(Self()["2/3"], 10u);
}

TEST_F(ArcWalkTest, AStateMachineOfTailCallsHasNoEndlessStack) {
  Add(Kind::kBegin, 0, kA);
  for (int i = 0; i < 100; ++i) {
    Add(Kind::kJump, kA + 8, kB, 2);
    Add(Kind::kJump, kB + 8, kC, 3);
    Add(Kind::kJump, kC + 8, kA, 4);
  }
  EXPECT_EQ(Self(), (Instructions{{"2", 200}, {"2/3", 300}, {"2/3/4", 400}}));
  EXPECT_EQ(Calls(2, 3), 100u);
  EXPECT_EQ(Calls(4, 2), 100u);
}

// The addresses before execve are those of another program when its record is written.
TEST_F(ArcWalkTest, AnotherProgramBeginsAnew) {
  Add(Kind::kBegin, 0, kA);
  Add(Kind::kCall, kA + 0x20, kB);
  Add(Kind::kSystemCall, kUnnamed + 7, kC, 5);
  Add(Kind::kBegin, 0, kC);
  Add(Kind::kEnd, kC + 4, 0, 2);
  EXPECT_EQ(Self(), (Instructions{{"2", 1}, {"2/3", 5}, {"4", 2}}));
  EXPECT_EQ(trace_.system_calls, 1u);
}

TEST_F(ArcWalkTest, ATraceWithoutItsBeginningIsWalked) {
  Add(Kind::kReturn, kA + 0x10, kB + 0x10, 3);
  Add(Kind::kSignalReturn, kB + 0x20, kC + 0x10, 4);
  EXPECT_EQ(Self(), (Instructions{{"2", 3}, {"3", 4}}));
}

TEST_F(ArcWalkTest, StraightRunsAreReported) {
  std::vector<model::StraightRun> runs;
  model::ArcWalk walk(Locate, [&](const model::StraightRun& run) { runs.push_back(run); });
  Add(Kind::kBegin, 0, kA);
  Add(Kind::kTaken, kA + 8, kA);
  Add(Kind::kSignal, kA + 4, kB);
  for (const Branch& branch : branches_) walk.Add(branch);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].begin, kA);
  EXPECT_EQ(runs[0].last, kA + 8);
  EXPECT_TRUE(runs[0].taken);
  EXPECT_FALSE(runs[0].open);
  EXPECT_TRUE(runs[1].open);
}

}  // namespace
}  // namespace jprof::reports
