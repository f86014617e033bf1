// Whose is what a CPU counted: the accounts of all threads of a machine, kept from the sampler's
// records of one sample at each dispatch (CpuSamplerOptions: event DispatchEvent(), counted,
// switches). What a CPU counted between two of them belongs to the one thread that ran. Pure:
// records in (in the order of time), sums out; no thread is too short to be seen.
//
// The kernel does not always tell when an idle CPU's idling ends, only who comes then; the time of
// the newcomer's record divides the two. What cannot be told (samples of a full ring are lost) goes
// to lost(), so that totals add up.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptm/cpu_sampler.h"

namespace jprof::ptm {

inline constexpr size_t kMaxCounted = CountedValues::kMost - 1;

// To sample by, with a period of 1: the moment a thread leaves a CPU.
EventSpec DispatchEvent();

struct ThreadAccount {
  uint32_t pid = 0, tid = 0;  // 0, 0: nobody, a CPU that idles
  std::string name;
  bool family = false;      // the process asked for, or what it started
  uint64_t ended = 0;       // when; 0: it lives
  uint64_t dispatches = 0;  // times it left a CPU: /proc's voluntary and other switches together
  uint64_t nanos = 0;       // on a CPU
  std::array<uint64_t, kMaxCounted> counts = {};

  void Add(const ThreadAccount& other);  // sums only
};

class DispatchAccounts {
 public:
  // A thread that is there already. Call before records that came after it are added.
  void AddThread(uint32_t pid, uint32_t tid, std::string name, bool family);
  void Add(const SampleRecord& record);
  // What CpuSampler::ReadCounted tells, added before the records that are drained after it: takes
  // its place among them. SettleReadings after those: then every thread's sums reach to the
  // reading.
  void AddReading(const SampleRecord& record);
  void SettleReadings();

  const std::deque<ThreadAccount>& threads() const { return threads_; }
  const ThreadAccount& lost() const { return lost_; }

 private:
  struct Cpu {
    CountedValues last, reading;
    bool has_reading = false;
    bool has_lost = false;     // records, since the last sample
    uint64_t offset = 0;       // CLOCK_MONOTONIC of enabled 0
    size_t running = kNobody;  // the account of who came since the last sample
    uint64_t since = 0;        // enabled
  };
  static constexpr size_t kNobody = ~size_t{0};

  size_t AccountOf(uint32_t pid, uint32_t tid);
  void Fork(const SampleRecord& record);
  void Sample(Cpu& cpu, const SampleRecord& record);
  void Charge(Cpu& cpu, const CountedValues& now, uint64_t left, size_t who);
  void SettleReading(Cpu& cpu);

  std::deque<ThreadAccount> threads_;
  std::unordered_map<uint32_t, size_t> by_tid_;  // the latest of each number
  std::vector<Cpu> cpus_;
  ThreadAccount lost_;
};

}  // namespace jprof::ptm
