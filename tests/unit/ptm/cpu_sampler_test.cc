#include "ptm/cpu_sampler.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <vector>

namespace jprof::ptm {
namespace {

double CpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// In user mode, except for a few reads of the clock: an ordinary user may sample only that.
[[gnu::noinline]] void Burn(double seconds) {
  for (const double end = CpuSeconds() + seconds; CpuSeconds() < end;) {
    volatile int i = 0;
    while (i < 100'000) {
      i = i + 1;
    }
  }
}

TEST(CpuSampler, SamplesThisProcessAtTheRateAsked) {
  auto sampler = CpuSampler::Open({.rate = 1000, .pids = {static_cast<uint32_t>(getpid())}});
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
  EXPECT_GT(samples, 250u);  // 500 on an otherwise idle machine
  EXPECT_LT(samples, 750u);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t nanos =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  EXPECT_LT(last, nanos);
  EXPECT_GT(last, nanos - 2'000'000'000);  // the same clock
}

TEST(CpuSampler, ReportsProcessEvents) {
  auto sampler = CpuSampler::Open({.pids = {static_cast<uint32_t>(getpid())}});
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
    if (record.kind == SampleRecord::Kind::kFork &&
        record.parent_pid == static_cast<uint32_t>(getpid()))
      seen.insert("fork");
    if (record.kind == SampleRecord::Kind::kComm && record.exec && record.text == "true")
      seen.insert("exec");
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

TEST(CpuSampler, TheWholeMachineAlsoWhenItIsIdle) {
  auto sampler = CpuSampler::Open({.rate = 1000});
  if (!sampler) GTEST_SKIP() << sampler.error().message;
  sampler->Start();
  usleep(300'000);
  sampler->Stop();
  uint64_t samples = 0;
  sampler->Drain(0, [&](const SampleRecord& record) {
    samples += record.kind == SampleRecord::Kind::kSample;
  });
  EXPECT_GT(samples, 100u);  // some kernels deliver none on a CPU that sleeps deeply
}

// Forks and dispatches on several CPUs can be followed only in this order.
TEST(CpuSampler, RecordsOfAllCpusComeInTheOrderOfTheirTimes) {
  auto sampler = CpuSampler::Open({.rate = 1000});
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
  EXPECT_GT(records, 160u);         // 80 children: a start and an end each
  EXPECT_LE(early, records / 100);  // a record may have its time before it is written
}

// A ring in the kernel's layout, with records of dispatched threads.
class MadeRing : public testing::Test {
 protected:
  static constexpr size_t kPages = 1;

  void Add(uint16_t size, uint64_t time) {
    const uint64_t at = page_->data_head % (kPages * 4096);
    const perf_event_header header = {PERF_RECORD_SWITCH_CPU_WIDE, 0, size};
    const uint64_t rest[] = {0, uint64_t{8} << 32 | 7, time,
                             0};  // who was before; pid and tid, time, CPU
    std::byte* out = reinterpret_cast<std::byte*>(page_) + 4096 + at;
    std::memcpy(out, &header, sizeof(header));
    std::memcpy(out + sizeof(header), rest, sizeof(rest));
    page_->data_head += sizeof(header) + sizeof(rest);
  }
  void Drain() {
    sampler_.Drain(0, [&](const SampleRecord& record) {
      seen_ += record.kind == SampleRecord::Kind::kSwitch;
      lost_ += record.lost;
    });
  }

  perf_event_mmap_page* page_ = static_cast<perf_event_mmap_page*>(mmap(
      nullptr, (1 + kPages) * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CpuSampler sampler_ = CpuSampler::FromRing(eventfd(0, EFD_CLOEXEC), page_, kPages);
  uint64_t seen_ = 0, lost_ = 0;
};

TEST_F(MadeRing, WhatCannotBeReadIsLostAndCounted) {
  for (const uint16_t size : {uint16_t{0}, uint16_t{8}, uint16_t{31}, uint16_t{4000}}) {
    seen_ = lost_ = 0;
    Add(40, 5);
    Add(size, 6);
    for (int i = 0; i < 4; ++i) Add(40, 7);
    Drain();
    EXPECT_EQ(seen_, 1u) << size;
    EXPECT_GE(lost_, 5u) << size;  // estimated from the bytes: the number is unknown
    EXPECT_LE(lost_, 7u) << size;
    EXPECT_EQ(page_->data_tail, page_->data_head) << size;
  }
  seen_ = lost_ = 0;
  for (int i = 0; i < 3; ++i) Add(40, 8);
  Drain();
  EXPECT_EQ(seen_, 3u);  // reading continues
  EXPECT_EQ(lost_, 0u);
}

TEST(CpuSampler, AProcessThatHasEndedIsAnError) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const auto sampler = CpuSampler::Open({.pids = {static_cast<uint32_t>(child)}});
  ASSERT_FALSE(sampler);
  EXPECT_NE(sampler.error().message.find("has ended"), std::string::npos)
      << sampler.error().message;
}

TEST(CpuSampler, AnEventThatTheMachineLacksIsWrongUse) {
  const auto sampler =
      CpuSampler::Open({.event = {.name = "nonsense", .type = 0x7ffffff0, .config = 1}});
  ASSERT_FALSE(sampler);
  EXPECT_NE(sampler.error().message.find("nonsense"), std::string::npos) << sampler.error().message;
}

}  // namespace
}  // namespace jprof::ptm
