#include "calibrate/model/refit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace jprof::calibrate {
namespace {

// Methods with random intervals of a few keys, whose overheads are known.
struct Program {
  std::vector<double> overheads;
  std::vector<Prior> priors;
  std::vector<Observation> observations;
};

Program MakeProgram(unsigned seed, double model_error, double chance) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Program made;
  constexpr size_t kKeys = 24;
  double common[2] = {3 * normal(random), 3 * normal(random)};
  for (uint32_t key = 0; key < kKeys; ++key) {
    const uint32_t group = key % 2;
    made.priors.push_back({.mean = 40, .own = 2, .shared = 3, .group = group});
    made.overheads.push_back(40 + common[group] + 2 * normal(random));
  }
  for (int method = 0; method < 300; ++method) {
    Observation seen{.variance = chance * chance};
    double count = 0;
    for (int i = 0; i < 4; ++i) {
      const auto key = static_cast<uint32_t>(random() % kKeys);
      const double events = std::pow(10, 3 + static_cast<double>(random() % 400) / 100);
      seen.events.emplace_back(key, events);
      seen.excess += events * made.overheads[key];
      count += events;
    }
    seen.excess += chance * normal(random) + count * model_error * normal(random);
    made.observations.push_back(std::move(seen));
  }
  return made;
}

// How many standard deviations the refitted overheads are off: root of the mean square.
double Misses(const Program& program, const Refitted& refitted) {
  double squares = 0;
  for (size_t i = 0; i < program.overheads.size(); ++i) {
    const double miss = (refitted.mean[i] - program.overheads[i]) / refitted.sd[i];
    squares += miss * miss;
  }
  return std::sqrt(squares / static_cast<double>(program.overheads.size()));
}

TEST(Refit, FindsKnownOverheadsWithinItsStandardDeviations) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Program program = MakeProgram(seed, 1.5, 1e6);
    const auto refitted = Refit(program.priors, program.observations);
    ASSERT_TRUE(refitted) << refitted.error().message;
    EXPECT_LT(Misses(program, *refitted), 2);
    EXPECT_GT(Misses(program, *refitted), 0.4);
    for (const auto& [group, error] : refitted->model_error) EXPECT_NEAR(error, 1.5, 0.75);
    for (const double sd : refitted->sd) EXPECT_LT(sd, 2);  // the observations say something
  }
}

TEST(Refit, ExactObservationsLeaveNoModelError) {
  const Program program = MakeProgram(3, 0, 1);
  const auto refitted = Refit(program.priors, program.observations);
  ASSERT_TRUE(refitted);
  for (const auto& [group, error] : refitted->model_error) EXPECT_LT(error, 0.05);
  for (size_t i = 0; i < program.overheads.size(); ++i)
    EXPECT_NEAR(refitted->mean[i], program.overheads[i], 0.05);
}

TEST(Refit, WithoutObservationsThePriorComesBack) {
  const std::vector<Prior> priors = {{.mean = 40, .own = 2, .shared = 3},
                                     {.mean = 30, .own = 1, .shared = 3}};
  const auto refitted = Refit(priors, {});
  ASSERT_TRUE(refitted);
  EXPECT_DOUBLE_EQ(refitted->mean[0], 40);
  EXPECT_DOUBLE_EQ(refitted->mean[1], 30);
  EXPECT_NEAR(refitted->sd[0], std::hypot(2, 3), 1e-9);
  EXPECT_NEAR(refitted->sd[1], std::hypot(1, 3), 1e-9);
}

// What was observed of one key moves another one of its group, but none of another group.
TEST(Refit, AGroupMovesTogether) {
  const std::vector<Prior> priors = {{.mean = 40, .own = 1, .shared = 3, .group = 0},
                                     {.mean = 40, .own = 1, .shared = 3, .group = 0},
                                     {.mean = 40, .own = 1, .shared = 3, .group = 1}};
  const auto refitted = Refit(priors, {{.events = {{0, 1e6}}, .excess = 46e6, .variance = 1e8}});
  ASSERT_TRUE(refitted);
  EXPECT_NEAR(refitted->mean[0], 46, 1);  // the rest may be a model error
  EXPECT_NEAR(refitted->mean[1] - 40, 0.9 * (refitted->mean[0] - 40), 1e-6);
  EXPECT_NEAR(refitted->mean[2], 40, 1e-6);
  EXPECT_NEAR(refitted->sd[2], std::hypot(1, 3), 1e-6);
}

// A method that waits, or that an intrinsic replaced, says nothing about overheads.
TEST(Refit, OutliersHaveLittleWeight) {
  Program program = MakeProgram(5, 0.5, 1e6);
  for (size_t i = 0; i < program.observations.size(); i += 20) program.observations[i].excess *= 9;
  const auto refitted = Refit(program.priors, program.observations);
  ASSERT_TRUE(refitted);
  for (size_t i = 0; i < program.overheads.size(); ++i)
    EXPECT_NEAR(refitted->mean[i], program.overheads[i], 1.5);
}

// Methods whose times were exchanged keep their sum, which decides.
TEST(Refit, TheWholeHasNoModelError) {
  const std::vector<Prior> priors = {{.mean = 40, .own = 1, .shared = 5}};
  std::vector<Observation> observations;
  for (int i = 0; i < 40; ++i)
    observations.push_back(
        {.events = {{0, 1e5}}, .excess = 1e5 * (i % 4 == 0 ? 76.0 : 36), .variance = 1e6});
  const auto methods = Refit(priors, observations);
  observations.push_back(
      {.events = {{0, 4e6}}, .excess = 4e6 * 46, .variance = 1e10, .model_errors_cancel = true});
  const auto whole = Refit(priors, observations);
  ASSERT_TRUE(methods && whole);
  EXPECT_LT(methods->mean[0], 44);
  EXPECT_NEAR(whole->mean[0], 46, 0.5);
}

TEST(Refit, RefusesWhatIsNoNumber) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const Prior prior = {.mean = 40, .own = 2, .shared = 3};
  const Observation seen = {.events = {{0, 10}}, .excess = 400, .variance = 1};
  ASSERT_TRUE(Refit({prior}, {seen}));
  for (const double bad : {kNan, kInfinite, -kInfinite}) {
    SCOPED_TRACE(bad);
    EXPECT_FALSE(Refit({{.mean = bad, .own = 2}}, {seen}));
    EXPECT_FALSE(Refit({{.mean = 40, .own = bad}}, {seen}));
    EXPECT_FALSE(Refit({{.mean = 40, .own = 2, .shared = bad}}, {seen}));
    EXPECT_FALSE(Refit({prior}, {{.events = {{0, 10}}, .excess = bad, .variance = 1}}));
    EXPECT_FALSE(Refit({prior}, {{.events = {{0, 10}}, .excess = 400, .variance = bad}}));
    EXPECT_FALSE(Refit({prior}, {{.events = {{0, bad}}, .excess = 400, .variance = 1}}));
  }
  EXPECT_FALSE(Refit({{.mean = 40, .own = 0}}, {seen}));
  EXPECT_FALSE(Refit({prior}, {{.events = {{0, 10}}, .excess = 400, .variance = 0}}));
  EXPECT_FALSE(Refit({prior}, {{.events = {{1, 10}}, .excess = 400, .variance = 1}}));
  EXPECT_FALSE(Refit({prior}, {{.events = {{0, 1e300}}, .excess = 1e305, .variance = 1e-300}}));
}

}  // namespace
}  // namespace jprof::calibrate
