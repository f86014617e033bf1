#include "calibrate/train/training.h"

#include <gtest/gtest.h>

#include <cmath>

namespace jprof::calibrate {
namespace {

constexpr double kScale = 0.5;  // ns per tick

// A synthetic machine: a call and its return really cost something, a probe costs something else,
// and the driver costs a lot. Shapes: J callers that call an empty method, a mid, or nothing.
struct Machine {
  std::map<Key, double> truth, overhead;  // ticks
  double driver = 500;

  static Counts CountsOf(const std::vector<const char*>& keys) {
    Counts counts;
    for (const char* key : keys) counts[*ParseKey(key)] += 1;
    return counts;
  }

  double Sum(const Counts& counts, const std::map<Key, double>& values) const {
    double sum = 0;
    for (const auto& [key, count] : counts) sum += count * values.at(key);
    return sum;
  }

  void Walk(Evidence& evidence, const ShapeName& name, const std::vector<const char*>& keys) const {
    const Counts counts = CountsOf(keys);
    evidence.truth[name] = {(driver + Sum(counts, truth)) * kScale};
    evidence.walks[name] = {1000, counts, {Sum(counts, truth) + Sum(counts, overhead)}};
    for (const auto& [key, count] : counts) {
      // The trained interval is not the tree's: it has the handler's walk of 8 ticks in it, and a
      // bias.
      evidence.samples.deltas[0][key].assign(
          100, static_cast<uint32_t>(std::lround(truth.at(key) + overhead.at(key) + 8 + 3)));
    }
    for (auto& handlers : evidence.samples.handlers) handlers.assign(10, 8 + 25);
  }

  Evidence Observe() const {
    Evidence evidence;
    evidence.samples.deltas.resize(1);
    Walk(evidence, "ShapeJJ sEmpty0", {"En-j-Ex-N"});
    Walk(evidence, "ShapeJJ sLs1", {"En-j-En-j", "En-j-Ex-j", "Ex-j-Ex-N"});
    Walk(evidence, "ShapeJJ sLs2",
         {"En-j-En-j", "En-j-Ex-j", "Ex-j-En-j", "En-j-Ex-j", "Ex-j-Ex-N"});
    Walk(evidence, "ShapeJJ sMs1",
         {"En-j-En-j", "En-j-En-j", "En-j-Ex-j", "Ex-j-Ex-j", "Ex-j-Ex-N"});
    return evidence;
  }
};

Machine SampleMachine() {
  Machine machine;
  for (const char* key :
       {"En-j-Ex-N", "En-j-En-j", "En-j-Ex-j", "Ex-j-En-j", "Ex-j-Ex-j", "Ex-j-Ex-N"}) {
    machine.truth[*ParseKey(key)] = 2;
    machine.overhead[*ParseKey(key)] = 30;
  }
  machine.truth[*ParseKey("En-j-En-j")] = 12;
  return machine;
}

MetricMetadata Time() {
  return {.name = "time", .unit = "ns", .scale = kScale, .granularity = 26, .bracket_ticks = 25};
}

TEST(MakeMetric, TakesOffWhatTheProbesCostAndNoMore) {
  const Machine machine = SampleMachine();
  const Evidence evidence = machine.Observe();
  const Metric metric = MakeMetric(evidence, Time());
  for (const auto& [name, walk] : evidence.walks) {
    const ShapeName empty = EmptyOf(name);
    double removed = 0, due = 0;
    for (const auto& [key, count] : walk.counts) {
      removed += count * metric.keys.at(key).overhead;
      due += count * machine.overhead.at(key);
    }
    EXPECT_NEAR(removed, due, 0.3) << name;
  }
}

// A kernel of 100 R and 100 J intervals whose probes cost `more` ticks an event than the shapes'
// do.
void AddKernel(Evidence& evidence, char state, const ShapeName& name, double overhead) {
  const Counts counts = {{*ParseKey(state == 'R' ? "En-R-Ex-R" : "En-J-Ex-J"), 200.0}};
  evidence.kernels[state].truth[name] = {5000 * kScale};
  evidence.kernels[state].walks[name] = {10, counts, {5000 + 200 * overhead}};
}

TEST(MakeMetric, MovesEachStateByWhatIsTypicallyLeftInItsKernels) {
  const Machine machine = SampleMachine();
  Evidence evidence = machine.Observe();
  for (const auto& [name, overhead] : {std::pair{"Library a", 33.0},
                                       {"Library b", 34.0},
                                       {"Library c", 35.0},
                                       {"Library d", 34.5},
                                       {"Library outlier", 90.0}}) {
    AddKernel(evidence, 'J', name, overhead);
  }
  const MetricMetadata metadata = Time();
  const Metric before = MakeMetric(machine.Observe(), metadata),
               after = MakeMetric(evidence, metadata);
  // The kernels' own transition is unknown to the shapes; it is looked up, moved with its state,
  // and then fits.
  double moved = 0;
  for (const auto& [key, value] : after.keys) {
    const double shift = value.overhead - before.keys.at(key).overhead;
    if (moved == 0) moved = shift;
    EXPECT_DOUBLE_EQ(shift, moved) << ToString(key);
    EXPECT_NEAR(value.context, 1.4826 * 0.5, 1e-6);
    EXPECT_NEAR(value.observed, value.truth + value.overhead, 1e-9);
  }
  EXPECT_NEAR(CentreOf(LeftPerEvent(evidence.kernels.at('J'), after, metadata)).median, 0, 1e-9);
  EXPECT_NE(moved, 0);
}

TEST(MakeMetric, TheEndsOfAStateAreInItsKernels) {
  Evidence evidence = SampleMachine().Observe();
  for (const auto& [name, overhead] : {std::pair{"Library a", 33.0},
                                       {"Library b", 34.0},
                                       {"Library c", 35.0},
                                       {"Library dependent", 28.0},
                                       {"Library independent", 36.5}}) {
    AddKernel(evidence, 'J', name, overhead);
    AddKernel(evidence, 'R', name, overhead);
    evidence.kernels['R'].inlined[name] = {(5000 - 200 * 1.5) * kScale};
  }
  const MetricMetadata metadata = Time();
  for (const auto& [key, value] : MakeMetric(evidence, metadata).keys) {
    const char state = static_cast<char>(std::toupper(key.running));
    if (state != 'J' && state != 'R') continue;
    EXPECT_NEAR(value.less, 6, 1e-6) << ToString(key);  // of the ordinary ones' 34
    EXPECT_NEAR(value.more, 2.5 + (state == 'R' ? 1.5 : 0), 1e-6) << ToString(key);
    EXPECT_NEAR(value.context, 1.4826, 1e-6);  // the ends are no ordinary kernels
  }
  EXPECT_EQ(LeftPerEvent(evidence.kernels.at('R'), MakeMetric(evidence, metadata), metadata).size(),
            3u);
}

TEST(CentreOf, AnOutlierMovesNothing) {
  EXPECT_EQ(CentreOf({}).median, 0);
  EXPECT_EQ(CentreOf({7}).median, 7);
  EXPECT_EQ(CentreOf({7}).deviation, 0);
  EXPECT_EQ(CentreOf({3, 1, 2}).median, 2);
  EXPECT_DOUBLE_EQ(CentreOf({1, 2, 3, 4, 1000}).deviation, 1.4826);
}

TEST(MakeMetric, RealWorkIsTruthNotOverhead) {
  const Metric metric = MakeMetric(SampleMachine().Observe(), Time());
  const Overhead& call = metric.keys.at(*ParseKey("En-j-En-j"));
  const Overhead& leaf = metric.keys.at(*ParseKey("En-j-Ex-j"));
  EXPECT_GT(call.truth, leaf.truth + 5);
  EXPECT_NEAR(call.observed, call.truth + call.overhead, 1e-9);
}

TEST(MakeMetric, KeepsTheEvidenceWithTheNumber) {
  const Metric metric = MakeMetric(SampleMachine().Observe(), Time());
  const Overhead& call = metric.keys.at(*ParseKey("En-j-En-j"));
  EXPECT_EQ(call.count, 100u);
  EXPECT_EQ(call.minimum, 12 + 30 + 8 + 3);
  EXPECT_EQ(metric.name, "time");
  EXPECT_EQ(metric.granularity, 26);
}

TEST(SlopeEquations, AreFreeOfTheDriver) {
  Machine machine = SampleMachine();
  const auto slow = SlopeEquations(machine.Observe(), Time());
  machine.driver = 0;
  const auto fast = SlopeEquations(machine.Observe(), Time());
  ASSERT_EQ(slow.size(), 3u);
  for (size_t i = 0; i < slow.size(); ++i) EXPECT_DOUBLE_EQ(slow[i].total, fast[i].total);
}

TEST(Combine, IsTheMeanAndSaysHowFarApartTheyWere) {
  Metric first{.name = "time"}, second{.name = "time"};
  const Key both = *ParseKey("En-J-En-J"), only_first = *ParseKey("En-I-En-I"),
            only_second = *ParseKey("En-N-Ex-N");
  first.keys = {{both, {.count = 10, .observed = 32, .overhead = 30, .minimum = 26}},
                {only_first, {.overhead = 9}}};
  second.keys = {{both, {.count = 20, .observed = 30, .overhead = 26, .minimum = 25}},
                 {only_second, {.overhead = 7}}};
  const Metric metric = Combine(first, second);
  const Overhead& value = metric.keys.at(both);
  EXPECT_EQ(value.count, 30u);
  EXPECT_DOUBLE_EQ(value.observed, 31);
  EXPECT_DOUBLE_EQ(value.overhead, 28);
  EXPECT_DOUBLE_EQ(value.truth, 3);
  EXPECT_DOUBLE_EQ(value.minimum, 25);
  EXPECT_DOUBLE_EQ(value.repeat, 4);
  EXPECT_DOUBLE_EQ(metric.keys.at(only_first).repeat, 9);
  EXPECT_DOUBLE_EQ(metric.keys.at(only_second).repeat, 7);
}

TEST(Train, AFailedRunIsAnErrorThatNamesTheProgramAndWhatItSaid) {
  const Plan plan{.java = "/bin/false", .work = "/tmp"};
  const auto trained = Train(plan);
  ASSERT_FALSE(trained);
  EXPECT_NE(trained.error().message.find("/bin/false"), std::string::npos)
      << trained.error().message;
  const Plan missing{.java = "/nonexistent/java", .work = "/tmp"};
  EXPECT_NE(Train(missing).error().message.find("/nonexistent/java"), std::string::npos);
}

}  // namespace
}  // namespace jprof::calibrate
