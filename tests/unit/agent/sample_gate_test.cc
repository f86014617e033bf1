// The gate that a reset of the samples closes before it waits for samples in progress.
#include "jprof/agent/sampling/sample_gate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace jprof::agent {
namespace {

using namespace std::chrono_literals;

TEST(SampleGate, LetsThroughWhenOpen) {
  SampleGate gate;
  SamplesInProgress in_progress;
  EXPECT_FALSE(SampleScope(gate, in_progress).allowed());
  gate.Open();
  EXPECT_TRUE(SampleScope(gate, in_progress).allowed());
  gate.Close();
  EXPECT_FALSE(SampleScope(gate, in_progress).allowed());
  EXPECT_TRUE(in_progress.Empty());
}

TEST(SampleGate, IsNotEmptyBeforeTheOutermostSampleHasEnded) {
  SampleGate gate;
  SamplesInProgress in_progress;
  gate.Open();
  {
    const SampleScope outer(gate, in_progress);
    gate.Close();
    EXPECT_TRUE(outer.allowed());
    EXPECT_FALSE(SampleScope(gate, in_progress).allowed()) << "another one inside it";
    EXPECT_FALSE(in_progress.Empty());
  }
  EXPECT_TRUE(in_progress.Empty());
}

// A slow sample writes two numbers; they are equal after closing the gate and waiting.
TEST(SampleGate, WhatSamplesWriteIsWholeAfterTheWait) {
  SampleGate gate;
  SamplesInProgress in_progress;
  int64_t first = 0, second = 0;  // not atomic: the gate orders them
  std::atomic<bool> stop = false;
  std::atomic<int> taken = 0;
  gate.Open();
  std::thread sampled([&] {
    while (!stop) {
      const SampleScope scope(gate, in_progress);
      if (!scope.allowed()) continue;
      ++first;
      if (++taken % 4 == 0) std::this_thread::sleep_for(30ms);  // as if the thread lost its CPU
      ++second;
    }
  });
  for (int round = 0; round < 20; ++round) {
    const int before = taken;
    while (taken < before + 3) std::this_thread::yield();
    gate.Close();
    while (!in_progress.Empty()) std::this_thread::yield();
    EXPECT_EQ(first, second) << round;
    first = second = 0;
    std::this_thread::sleep_for(1ms);
    EXPECT_EQ(first, 0) << "a sample passed the closed gate";
    gate.Open();
  }
  stop = true;
  sampled.join();
}

}  // namespace
}  // namespace jprof::agent
