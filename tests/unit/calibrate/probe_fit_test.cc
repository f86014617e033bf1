#include "calibrate/train/probe_fit.h"

#include <gtest/gtest.h>

#include <random>

#include "calibrate/train/training.h"

namespace jprof::calibrate {
namespace {

TEST(KeptOf, CountsArgumentsThisAndTheResult) {
  EXPECT_EQ(KeptOf("()V", true), (Kept{0, 0}));
  EXPECT_EQ(KeptOf("()V", false), (Kept{1, 0}));
  EXPECT_EQ(KeptOf("(IJ)J", true), (Kept{2, 1}));
  EXPECT_EQ(KeptOf("(Ljava/lang/String;[[I[Ljava/util/List;D)[B", false), (Kept{5, 1}));
  for (const char* broken : {"", "V", "(", "(I", "(I)", "(Ljava"})
    EXPECT_EQ(KeptOf(broken, true), Kept()) << broken;
}

// What a machine's probes cost, planted, and walks that call methods of all types at random.
const Probes kPlanted = {
    {'I', {50, 40, 40, 50, 0, 4}}, {'J', {45, 43, 43, 45, 2, 3}}, {'N', {47, 48, 48, 47, 5, 1}}};

double CostOf(const Probes& probes, const std::map<char, Calls>& by_type) {
  double cost = 0;
  for (const auto& [type, of] : by_type) {
    const Probe& probe = probes.at(type);
    cost += of.calls * probe.Sum() + of.arguments * probe.argument + of.results * probe.result;
  }
  return cost;
}

std::vector<ProbeEquation> RandomWalks(int count) {
  std::mt19937 random(1);
  std::vector<ProbeEquation> walks(count);
  for (ProbeEquation& walk : walks) {
    for (const char type : {'I', 'J', 'N'}) {
      const auto below = [&](unsigned bound) { return static_cast<double>(random() % bound); };
      const double calls = below(4);
      walk.by_type[type] = {calls, calls * below(4), calls * below(2)};
    }
    walk.total = CostOf(kPlanted, walk.by_type);
  }
  return walks;
}

TEST(FitProbes, FindsWhatWasPlantedExactly) {
  const ProbeFit fit = FitProbes(RandomWalks(40), {});
  ASSERT_EQ(fit.probes.size(), 3u);
  for (const auto& [type, planted] : kPlanted) {
    EXPECT_NEAR(fit.probes.at(type).Sum(), planted.Sum(), 1e-3) << type;
    EXPECT_NEAR(fit.probes.at(type).argument, planted.argument, 1e-3) << type;
    EXPECT_NEAR(fit.probes.at(type).result, planted.result, 1e-3) << type;
  }
  EXPECT_NEAR(fit.deviation, 0, 1e-3);
}

TEST(FitProbes, AnEmptyLeafsIntervalIsAllProbe) {
  const std::map<Key, double> minima = {{*ParseKey("En-J-Ex-J"), 87},
                                        {*ParseKey("En-j-Ex-N"), 86},
                                        {*ParseKey("En-J-En-J"), 12},
                                        {*ParseKey("En-I-Ex-I"), 500}};
  const ProbeFit fit = FitProbes(RandomWalks(40), minima);
  EXPECT_NEAR(fit.probes.at('J').enter_out + fit.probes.at('J').exit_in, 86, 1e-9);
  EXPECT_NEAR(fit.probes.at('J').Sum(), kPlanted.at('J').Sum(), 1e-3);
  EXPECT_NEAR(fit.probes.at('I').enter_out + fit.probes.at('I').exit_in, 90, 1e-3) << "half of all";
}

TEST(FitProbes, WhatIsNotToldApartIsPutNowhere) {
  // Every call has one argument: no equation tells its cost from the call's.
  std::vector<ProbeEquation> walks;
  for (const double calls : {1, 2, 3}) walks.push_back({{{'R', {calls, 0, 0}}}, 180 * calls});
  const ProbeFit fit = FitProbes(walks, {});
  EXPECT_NEAR(fit.probes.at('R').Sum(), 180, 1e-3);
  EXPECT_NEAR(fit.probes.at('R').argument, 0, 1e-9);
  EXPECT_NEAR(fit.probes.at('R').result, 0, 1e-9);
}

TEST(FitProbes, SaysHowFarTheWalksDisagree) {
  std::vector<ProbeEquation> walks = RandomWalks(40);
  for (size_t i = 0; i < walks.size(); ++i) {
    double calls = 0;
    for (const auto& [type, of] : walks[i].by_type) calls += of.calls;
    walks[i].total += (i % 2 == 0 ? 1 : -1) * 2 * calls;  // an instruction an event
  }
  EXPECT_NEAR(FitProbes(walks, {}).deviation, 1, 0.2);
  EXPECT_EQ(FitProbes({}, {}).deviation, 0);
}

TEST(OverheadOf, IsAWayOutAndAWayIn) {
  EXPECT_DOUBLE_EQ(OverheadOf(kPlanted, *ParseKey("En-J-En-n")), 43 + 47);
  EXPECT_DOUBLE_EQ(OverheadOf(kPlanted, *ParseKey("En-i-Ex-J")), 40 + 40);
  EXPECT_DOUBLE_EQ(OverheadOf(kPlanted, *ParseKey("Ex-J-En-I")), 45 + 50);
  EXPECT_DOUBLE_EQ(OverheadOf(kPlanted, *ParseKey("Ex-J-Ex-N")), 45 + 43);
}

// From evidence to a table: two shapes, the driver's cost in both truths, the caller's own probes
// in both walks.
TEST(MakeMetric, ACounterIsLearntToTheInstruction) {
  const Key enter = *ParseKey("En-j-En-j"), leave = *ParseKey("En-j-Ex-j"),
            back = *ParseKey("Ex-j-Ex-N");
  Evidence evidence;
  const auto walk = [&evidence](const char* name, double calls, double truth, Counts counts) {
    evidence.truth[name] = {99.0, 500 + truth};  // ns, then the counter
    evidence.walks[name] = {
        100, std::move(counts), {0, truth + calls * 176}, {{'J', {calls, 0, 0}}}};
  };
  walk("ShapeJJ sLs2", 3, 27, {});
  walk("ShapeJJ sLs3", 4, 39, {{enter, 1}, {leave, 1}, {back, 1}});
  evidence.samples.deltas.resize(2);
  evidence.samples.deltas[1] = {{enter, {98, 95, 4501}}, {leave, {86, 86, 89}}, {back, {101, 101}}};
  const Metric metric = MakeMetric(
      evidence,
      {.name = "PAPI_TOT_INS", .unit = "events", .index = 1, .is_time = false, .truth = 1});
  const Probe& probe = metric.probes.at('J');
  EXPECT_NEAR(probe.Sum(), 176, 1e-3);
  EXPECT_NEAR(probe.enter_out + probe.exit_in, 86, 1e-3);
  EXPECT_EQ(metric.keys.at(enter).minimum, 95);
  EXPECT_EQ(metric.keys.at(enter).observed, 95);
  EXPECT_NEAR(metric.keys.at(enter).overhead, 88, 1e-3);
  EXPECT_NEAR(metric.keys.at(enter).truth, 7, 1e-3);
  EXPECT_NEAR(metric.keys.at(leave).truth, 0, 1e-3);
}

}  // namespace
}  // namespace jprof::calibrate
