// Made programs whose true overheads are known, and tables that are right, too large or too small.
#include "calibrate/model/bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <random>

namespace jprof::calibrate {
namespace {

constexpr double kOverhead = 15;  // the mean true overhead of an interval, in ticks

// Methods whose own work per interval varies over two orders of magnitude, from next to nothing on.
// `table` times the true overhead is what the table removes, `model_error` how much methods differ.
std::vector<OwnTime> MakeTimes(unsigned seed, int methods, double table, double model_error = 1.5) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<OwnTime> times;
  for (int i = 0; i < methods; ++i) {
    OwnTime time = {.group = 'R',
                    .events = std::pow(10, 4.2 + static_cast<double>(random() % 300) / 100)};
    const double trained = kOverhead + 3 * normal(random);  // keys differ, as the table knows
    const double work = std::exp(1.5 + 1.2 * normal(random));
    time.variance = time.events * 150 * 150;
    time.model_error = time.events * 2.5;
    time.systematic = time.events * 4;
    time.removed = table * trained * time.events;
    time.raw = time.events * (trained + model_error * normal(random) + work) +
               std::sqrt(time.variance) * normal(random);
    times.push_back(time);
  }
  return times;
}

TEST(Bound, ATableThatRemovesHalfTooMuchIsLowered) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const Bounds bounds = BoundsOf(MakeTimes(seed, 200, 1.5));
    ASSERT_TRUE(bounds.contains('R'));
    const Bound& bound = bounds.at('R');
    EXPECT_NEAR(bound.factor * 1.5, 1, 0.2);
    EXPECT_LE(bound.low, bound.factor);
    EXPECT_GE(bound.high, bound.factor);
    EXPECT_GE(bound.too_much, 0.9);
    EXPECT_GT(bound.methods, 100u);
  }
}

TEST(Bound, AGoodTableStaysAsItIs) {
  int lowered = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Bounds bounds = BoundsOf(MakeTimes(seed, 200, 1));
    if (!bounds.contains('R')) continue;
    ++lowered;
    EXPECT_GT(bounds.at('R').factor, 0.8) << seed;
  }
  EXPECT_LE(lowered, 6);
}

// Most methods are getters, the others do real work: what the getters leave is no work of theirs.
TEST(Bound, AGoodTableStaysWhereMostMethodsAreIdle) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::vector<OwnTime> times = MakeTimes(seed, 200, 1);
    std::mt19937 random(seed);
    std::exponential_distribution<double> work;
    std::normal_distribution<double> normal;
    for (OwnTime& time : times) {
      const double mean = random() % 10 < 7 ? 0.3 : 18;
      time.raw = time.removed + time.events * (1.5 * normal(random) + mean * work(random)) +
                 std::sqrt(time.variance) * normal(random);
    }
    const Bounds bounds = BoundsOf(times);
    if (bounds.contains('R')) {
      EXPECT_GT(bounds.at('R').factor, 0.93) << seed;
    }
    for (OwnTime& time : times) time.removed *= 1.5;
    const Bounds lowered = BoundsOf(times);
    ASSERT_TRUE(lowered.contains('R')) << seed;
    EXPECT_NEAR(lowered.at('R').factor * 1.5, 1, 0.1) << seed;
  }
}

TEST(Bound, ATableThatRemovesTooLittleStaysAsItIs) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    EXPECT_TRUE(BoundsOf(MakeTimes(seed, 200, 0.7)).empty()) << seed;
    EXPECT_TRUE(BoundsOf(MakeTimes(seed, 3, 0.7)).empty()) << seed;
  }
}

// Two phases: a loop around a tiny method, both of which make all the calls.
TEST(Bound, TwoMethodsOfManyCallsSuffice) {
  const auto phases = [](double table) {
    const auto method = [&](double time, double removed) {
      return OwnTime{.group = 'R',
                     .events = 5e7,
                     .raw = 5e7 * time,
                     .removed = 5e7 * table * removed,
                     .variance = 5e7 * 150 * 150,
                     .model_error = 5e7 * 3,
                     .systematic = 5e7 * 8};
    };
    return std::vector<OwnTime>{method(17.5, 16.5), method(21.5, 6), method(12'000, 5)};
  };
  EXPECT_TRUE(BoundsOf(phases(1)).empty());
  const Bounds bounds = BoundsOf(phases(1.6));
  ASSERT_TRUE(bounds.contains('R'));
  EXPECT_NEAR(bounds.at('R').factor * 1.6, 1, 0.1);
  EXPECT_EQ(bounds.at('R').methods, 2u);  // the plain loop works too much to tell anything
}

TEST(Bound, TypesAreApart) {
  std::vector<OwnTime> times = MakeTimes(1, 200, 1.6);
  for (OwnTime time : MakeTimes(2, 200, 0.8)) {
    time.group = 'J';
    times.push_back(time);
  }
  const Bounds bounds = BoundsOf(times);
  EXPECT_TRUE(bounds.contains('R'));
  EXPECT_FALSE(bounds.contains('J'));
}

// Single methods that an interrupt in a timed event put below 0 move nothing.
TEST(Bound, OutliersMoveNothing) {
  std::vector<OwnTime> times = MakeTimes(3, 200, 1);
  const auto before = BoundOf(times);
  for (size_t i = 0; i < times.size(); i += 50) times[i].raw = -20 * times[i].events;
  const auto after = BoundOf(times);
  ASSERT_TRUE(before && after);
  EXPECT_NEAR(before->factor, after->factor, 0.1);
}

TEST(Bound, WithoutEvidenceThereIsNone) {
  EXPECT_FALSE(BoundOf({}));
  std::vector<OwnTime> times = MakeTimes(1, 5, 1.5);
  for (OwnTime& time : times) time.events /= 1e6;
  EXPECT_FALSE(BoundOf(times)) << "too few intervals";
  times = MakeTimes(1, 5, -1);
  EXPECT_FALSE(BoundOf(times)) << "removes nothing";
  times = MakeTimes(1, 5, 1.5);
  for (OwnTime& time : times) time.raw *= 100;
  EXPECT_FALSE(BoundOf(times)) << "works too much";
}

// Numbers of a damaged profile.
TEST(Bound, ExtremesEnd) {
  for (const double extreme : {0.0, -1e300, 1e300, 1e-300, 1e18, -1e18}) {
    for (double OwnTime::*member : {&OwnTime::events, &OwnTime::raw, &OwnTime::removed,
                                    &OwnTime::variance, &OwnTime::model_error}) {
      std::vector<OwnTime> times = MakeTimes(1, 5, 1.5);
      times[0].*member = extreme;
      for (const auto& [type, bound] : BoundsOf(times)) {
        EXPECT_TRUE(std::isfinite(bound.factor)) << extreme;
        EXPECT_LT(bound.factor, 1);
        EXPECT_GT(bound.factor, 0);
      }
    }
  }
}

TEST(Bound, OverheadsAreMultipliedAndTheirErrorsWiden) {
  const Key jitted = {EventKind::kEntry, 'r', EventKind::kExit, 'R'};
  const Key below_zero = {EventKind::kExit, 'R', EventKind::kExit, 'R'};
  const Key other = {EventKind::kEntry, 'J', EventKind::kExit, 'R'};
  const Overhead trained = {.observed = 12, .truth = 2, .overhead = 10, .repeat = 3};
  Metric metric;
  metric.keys = {{jitted, trained}, {below_zero, trained}, {other, trained}};
  metric.keys[below_zero].overhead = -5;
  const Metric lowered =
      Bounded(metric, {{'R', {.factor = 0.6, .low = 0.4, .high = 0.8, .too_much = 1}}});
  EXPECT_DOUBLE_EQ(lowered.keys.at(jitted).overhead, 6);
  EXPECT_DOUBLE_EQ(lowered.keys.at(jitted).truth, 6);
  EXPECT_DOUBLE_EQ(lowered.keys.at(jitted).repeat, std::hypot(3, 1));
  EXPECT_DOUBLE_EQ(lowered.keys.at(below_zero).overhead, -5);
  EXPECT_DOUBLE_EQ(lowered.keys.at(other).overhead, 10);
}

// Ten random trees against the correction, which removes the same.
TEST(Bound, IntervalsOfMethodsAreThoseOfTheCorrection) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random()) % end; };
    Metric metric;
    for (const EventKind previous : {EventKind::kEntry, EventKind::kExit}) {
      for (const EventKind event : {EventKind::kEntry, EventKind::kExit}) {
        for (const char running : {'J', 'R', 'r'}) {
          for (const char called : {'J', 'R', 'r', 'T'})
            metric.keys[{previous, running, event, called}].overhead =
                1 + static_cast<double>(below(100));
        }
      }
    }
    std::vector<uint32_t> parent = {kRoot}, owner = {0};
    std::vector<uint8_t> superseded = {0};
    std::vector<char> letter = {'T'};
    std::vector<std::array<uint32_t, 4>> counts = {{}};
    std::vector<int64_t> raw = {5};
    for (uint32_t i = 1; i < 200; ++i) {
      superseded.push_back(i > 2 && below(8) == 0);
      parent.push_back(below(i));
      while (superseded[i] && (superseded[parent[i]] || parent[i] == 0))
        parent[i] = 1 + below(i - 1);
      if (!superseded[i] && superseded[parent[i]]) parent[i] = 0;
      letter.push_back("JRr"[below(3)]);
      owner.push_back(1 + below(20));
      counts.push_back({below(1000), below(1000), below(1000), below(1000)});
      raw.push_back(static_cast<int64_t>(below(100'000)));
    }
    const CountedTree tree = {parent, superseded, letter, counts};
    const std::vector<double> adjust = Correct(tree, metric).adjust;
    // A node has one type if its own parts have. What its children were when it called them is in
    // their counts, and which type it had then is weighted: it is pure if its own parts are.
    std::vector<bool> mixed(parent.size());
    std::vector<double> times(raw.begin(), raw.end());
    for (uint32_t i = 0; i < parent.size(); ++i) {
      if (!superseded[i]) continue;
      times[parent[i]] += times[i];
      if (std::toupper(letter[i]) != std::toupper(letter[parent[i]])) mixed[parent[i]] = true;
    }
    std::map<std::pair<char, uint32_t>, std::pair<double, double>> expected;
    for (uint32_t i = 1; i < parent.size(); ++i) {
      if (superseded[i] || mixed[i]) continue;
      auto& [removed, time] = expected[{static_cast<char>(std::toupper(letter[i])), owner[i]}];
      removed += adjust[i];
      time += times[i];
    }
    const std::vector<OwnTime> found = OwnTimesOf(tree, raw, owner, metric, 0);
    size_t same = 0;
    for (const auto& [method, sums] : expected) {
      same += std::ranges::any_of(found, [&](const OwnTime& time) {
        return time.group == method.first && std::abs(sums.first - time.removed) < 1e-6 &&
               std::abs(sums.second - time.raw) < 1e-6;
      });
    }
    EXPECT_GE(same, expected.size() * 9 / 10) << seed;  // a mixed node may be of one type by 95 %
  }
}

}  // namespace
}  // namespace jprof::calibrate
