#include "ptm/sampler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <set>
#include <vector>

namespace jprof::ptm {
namespace {

double CpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

[[gnu::noinline]] void Burn(double seconds) {
  for (const double end = CpuSeconds() + seconds; CpuSeconds() < end;) {
  }
}

TEST(Sampler, SamplesThisProcessAtTheRateAsked) {
  auto sampler = Sampler::Open({.rate = 1000, .pids = {static_cast<uint32_t>(getpid())}});
  if (!sampler) GTEST_SKIP() << sampler.error().message;
  sampler->Start();
  Burn(0.5);
  sampler->Stop();
  uint64_t samples = 0, last = 0;
  sampler->Drain(0, [&](const SampleRecord& record) {
    if (record.kind != SampleRecord::Kind::kSample) return;
    ++samples;
    EXPECT_EQ(record.pid, static_cast<uint32_t>(getpid()));
    EXPECT_NE(record.address, 0u);
    last = std::max(last, record.time);
  });
  EXPECT_GT(samples, 250u);  // 500 on a machine of one's own
  EXPECT_LT(samples, 750u);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t nanos = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  EXPECT_LT(last, nanos);
  EXPECT_GT(last, nanos - 2'000'000'000);  // the same clock
}

TEST(Sampler, SaysWhatProcessesDo) {
  auto sampler = Sampler::Open({.pids = {static_cast<uint32_t>(getpid())}});
  if (!sampler) GTEST_SKIP() << sampler.error().message;
  sampler->Start();
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  waitpid(child, nullptr, 0);
  sampler->Stop();
  std::set<std::string> seen;
  sampler->Drain(0, [&](const SampleRecord& record) {
    if (record.pid != static_cast<uint32_t>(child)) return;
    if (record.kind == SampleRecord::Kind::kFork && record.parent_pid == static_cast<uint32_t>(getpid())) seen.insert("fork");
    if (record.kind == SampleRecord::Kind::kComm && record.exec && record.text == "true") seen.insert("exec");
    if (record.kind == SampleRecord::Kind::kMap && record.text.ends_with("/true")) {
      EXPECT_NE(record.inode, 0u);
      seen.insert("map");
    }
    if (record.kind == SampleRecord::Kind::kExit) seen.insert("exit");
  });
  EXPECT_TRUE(seen.contains("fork"));
  EXPECT_TRUE(seen.contains("exec"));
  EXPECT_TRUE(seen.contains("map"));
  EXPECT_TRUE(seen.contains("exit"));
}

TEST(Sampler, TheWholeMachineAlsoWhenItIsIdle) {
  auto sampler = Sampler::Open({.rate = 1000});
  if (!sampler) GTEST_SKIP() << sampler.error().message;
  sampler->Start();
  usleep(300'000);
  sampler->Stop();
  uint64_t samples = 0;
  sampler->Drain(0, [&](const SampleRecord& record) { samples += record.kind == SampleRecord::Kind::kSample; });
  EXPECT_GT(samples, 100u);  // some kernels deliver none on a CPU that sleeps deeply
}

// Who started whom, on which CPU: only in this order can it be followed.
TEST(Sampler, RecordsOfAllCpusComeInTheOrderOfTheirTimes) {
  auto sampler = Sampler::Open({.rate = 1000});
  if (!sampler) GTEST_SKIP() << sampler.error().message;
  sampler->Start();
  uint64_t last = 0, records = 0, early = 0;
  std::set<uint16_t> cpus;
  for (int round = 0; round < 10; ++round) {
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      children.push_back(fork());
      if (children.back() == 0) _exit((Burn(0.01), 0));
    }
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    sampler->Drain(0, [&](const SampleRecord& record) {
      early += record.time < last;
      last = std::max(last, record.time);
      cpus.insert(record.cpu);
      ++records;
    });
  }
  if (cpus.size() < 2) GTEST_SKIP() << "all on one CPU";
  EXPECT_GT(records, 160u);  // 80 children: a start and an end each
  EXPECT_LE(early, records / 100);  // a record may have its time, and not be written yet
}

TEST(Sampler, AProcessThatHasEndedIsAnError) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const auto sampler = Sampler::Open({.pids = {static_cast<uint32_t>(child)}});
  ASSERT_FALSE(sampler);
  EXPECT_NE(sampler.error().message.find("has ended"), std::string::npos) << sampler.error().message;
}

TEST(Sampler, AnEventThatTheMachineLacksIsWrongUse) {
  const auto sampler = Sampler::Open({.event = {.name = "nonsense", .type = 0x7ffffff0, .config = 1}});
  ASSERT_FALSE(sampler);
  EXPECT_NE(sampler.error().message.find("nonsense"), std::string::npos) << sampler.error().message;
}

}  // namespace
}  // namespace jprof::ptm
