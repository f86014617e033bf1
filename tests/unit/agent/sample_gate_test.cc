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
  SampleGate::Passage passage;
  EXPECT_FALSE(SampleGate::Pass(gate, passage).allowed());
  gate.Open();
  EXPECT_TRUE(SampleGate::Pass(gate, passage).allowed());
  gate.Close();
  EXPECT_FALSE(SampleGate::Pass(gate, passage).allowed());
  EXPECT_TRUE(passage.Empty());
}

TEST(SampleGate, IsNotEmptyBeforeTheOutermostSampleHasEnded) {
  SampleGate gate;
  SampleGate::Passage passage;
  gate.Open();
  {
    const SampleGate::Pass outer(gate, passage);
    gate.Close();
    EXPECT_TRUE(outer.allowed());
    EXPECT_FALSE(SampleGate::Pass(gate, passage).allowed()) << "another one inside it";
    EXPECT_FALSE(passage.Empty());
  }
  EXPECT_TRUE(passage.Empty());
}

// A slow sample writes two numbers; they are equal after closing the gate and waiting.
TEST(SampleGate, WhatSamplesWriteIsWholeAfterTheWait) {
  SampleGate gate;
  SampleGate::Passage passage;
  int64_t first = 0, second = 0;  // not atomic: the gate orders them
  std::atomic<bool> stop = false;
  std::atomic<int> taken = 0;
  gate.Open();
  std::thread sampled([&] {
    while (!stop) {
      const SampleGate::Pass pass(gate, passage);
      if (!pass.allowed()) continue;
      ++first;
      if (++taken % 4 == 0) std::this_thread::sleep_for(30ms);  // as if the thread lost its CPU
      ++second;
    }
  });
  for (int round = 0; round < 20; ++round) {
    const int before = taken;
    while (taken < before + 3) std::this_thread::yield();
    gate.Close();
    while (!passage.Empty()) std::this_thread::yield();
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
