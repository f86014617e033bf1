// Live objects and their growth from samples, against a slow oracle: the sampling, done many times.
#include "model/tree/live_growth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "profile/files/allocation_sample.h"

namespace jprof::model {
namespace {

constexpr uint64_t kInterval = 4096;

// A population whose objects are known: each with its bytes and the snapshots at which it exists.
std::vector<Followed> Population(std::mt19937& random, uint32_t snapshots) {
  std::vector<Followed> all;
  const auto add = [&](int count, double bytes, uint32_t first, uint32_t last) {
    for (int i = 0; i < count; ++i) all.push_back({.first = first, .last = last, .value = bytes});
  };
  add(3000, 24, 1, snapshots);
  add(40, 20'000, 1, snapshots);
  for (uint32_t i = 1; i <= snapshots; ++i) {
    add(1000, 64, i, snapshots);                        // grow
    add(static_cast<int>(random() % 200), 1000, i, i);  // come and go
    add(500, 200, i, std::min(snapshots, i + 2));       // are replaced
  }
  return all;
}

std::vector<Followed> SampleOf(const std::vector<Followed>& all, std::mt19937& random) {
  std::vector<Followed> sample;
  std::uniform_real_distribution<double> uniform;
  for (Followed object : all) {
    object.probability =
        profile::SampledProbability(static_cast<uint64_t>(object.value), kInterval);
    if (uniform(random) < object.probability) sample.push_back(object);
  }
  return sample;
}

double SumAt(const std::vector<Followed>& objects, uint32_t snapshot) {
  double sum = 0;
  for (const Followed& object : objects)
    if (object.first <= snapshot && snapshot <= object.last) sum += object.value;
  return sum;
}

Estimate EstimateAt(const std::vector<Followed>& objects, uint32_t snapshot) {
  LiveSum sum(snapshot);
  for (const Followed& object : objects) sum.Add(object);
  return sum.Get();
}

// The slope by the normal equations, from the sums alone.
double SlopeOf(const std::vector<double>& times, const std::vector<double>& sums) {
  double n = 0, t = 0, y = 0, tt = 0, ty = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    n += 1;
    t += times[i];
    y += sums[i];
    tt += times[i] * times[i];
    ty += times[i] * sums[i];
  }
  return (n * ty - t * y) / (n * tt - t * t);
}

TEST(LiveGrowth, WithoutASampleTheSumIsExact) {
  std::mt19937 random(1);
  const std::vector<Followed> all = Population(random, 4);
  for (uint32_t i = 1; i <= 4; ++i) {
    const Estimate sum = EstimateAt(all, i);
    EXPECT_DOUBLE_EQ(sum.value, SumAt(all, i));
    EXPECT_EQ(sum.low, sum.value);
    EXPECT_EQ(sum.high, sum.value);
  }
}

TEST(LiveGrowth, TheSlopeIsThatOfTheNormalEquations) {
  std::mt19937 random(2);
  const std::vector<double> times = {0.5, 1.25, 3, 4.5, 5};
  const std::vector<Followed> all = Population(random, 5);
  std::vector<double> sums;
  for (uint32_t i = 1; i <= 5; ++i) sums.push_back(SumAt(all, i));
  EXPECT_NEAR(GrowthOf(times, all).per_second, SlopeOf(times, sums), 1e-6);
}

TEST(LiveGrowth, ALineHasNoArmAndNoiseHasOne) {
  const std::vector<double> times = {1, 2, 3, 4};
  std::vector<Followed> line, noise;
  for (uint32_t i = 1; i <= 4; ++i) {
    line.push_back({.first = i, .last = 4, .value = 10});
    noise.push_back({.first = i, .last = i, .value = i % 2 == 0 ? 100.0 : 50.0});
  }
  EXPECT_NEAR(GrowthOf(times, line).per_second, 10, 1e-9);
  EXPECT_NEAR(GrowthOf(times, line).arm, 0, 1e-9);
  EXPECT_TRUE(GrowthOf(times, line).IsCertain());
  EXPECT_FALSE(GrowthOf(times, noise).IsCertain());
  EXPECT_GT(GrowthOf(times, noise).arm, 20);
}

TEST(LiveGrowth, WhatStaysAsItIsDoesNotGrow) {
  std::vector<double> times;
  for (int i = 1; i < 60; ++i) times.push_back(1.1 * i + 0.01 * (i % 7));
  const Followed all[] = {{.first = 1, .last = 59, .value = 2'600'024}};
  EXPECT_FALSE(GrowthOf(times, all).IsCertain());
}

// The estimates are right on average, and 95 % of their intervals hold the truth.
TEST(LiveGrowth, TheIntervalsOfSamplesHoldTheTruth) {
  constexpr int kSamples = 2000;
  std::mt19937 random(3);
  const std::vector<double> times = {1, 2, 3, 4, 5, 6};
  const std::vector<Followed> all = Population(random, 6);
  const double truth = SumAt(all, 6);
  int held = 0;
  double mean = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Estimate sum = EstimateAt(SampleOf(all, random), 6);
    held += sum.Holds(truth);
    mean += sum.value / kSamples;
  }
  EXPECT_NEAR(mean / truth, 1, 0.01);
  EXPECT_GT(held, kSamples * 0.92);
  EXPECT_LT(held, kSamples * 0.98);
}

// The slope over a population that grows along a line differs by the sample only: its arm is then
// about two standard deviations of the slopes of all samples.
TEST(LiveGrowth, TheArmOfASlopeIsThatOfTheSamples) {
  constexpr int kSamples = 400;
  std::mt19937 random(4);
  const std::vector<double> times = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<Followed> all;
  for (uint32_t i = 1; i <= 8; ++i)
    for (int n = 0; n < 2000; ++n) all.push_back({.first = i, .last = 8, .value = 64});
  const double truth = 2000 * 64;
  int held = 0;
  double mean = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Growth growth = GrowthOf(times, SampleOf(all, random));
    held += std::abs(growth.per_second - truth) <= growth.arm;
    mean += growth.per_second / kSamples;
  }
  EXPECT_NEAR(mean / truth, 1, 0.02);
  EXPECT_GT(held, kSamples * 0.94);  // both errors are added, of which one contains the other
}

}  // namespace
}  // namespace jprof::model
