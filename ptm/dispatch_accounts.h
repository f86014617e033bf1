// Attributes the counts of CPUs to threads. The input is a sampler's records with one sample at
// each dispatch (CpuSamplerOptions: event DispatchEvent(), counted, switches): what a CPU counted
// between two samples belongs to the one thread that ran.
//
// - Pure: takes records in order of time and returns sums. No thread is too short to be seen.
// - The kernel does not always report when a CPU's idle period ends, only which thread runs next;
//   the time of that thread's record separates the two.
// - Counts that cannot be attributed, because samples were lost in a full ring, go to lost(), so
//   that totals agree.
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

// Returns the event to sample by, with a period of 1: a thread leaves a CPU.
EventSpec DispatchEvent();

struct ThreadAccount {
  uint32_t pid = 0, tid = 0;  // 0, 0 for an idle CPU
  std::string name;
  bool family = false;      // belongs to the selected process or its descendants
  uint64_t ended = 0;       // time of its end; 0 if still running
  uint64_t dispatches = 0;  // times it left a CPU: /proc's voluntary and involuntary switches
  uint64_t nanos = 0;       // time on a CPU
  uint64_t interrupts = 0;  // that came meanwhile; SetInterrupts
  std::array<uint64_t, kMaxCounted> counts = {};

  void Add(const ThreadAccount& other);  // adds the sums only
};

class DispatchAccounts {
 public:
  // Adds a thread that already exists. Call this before adding records of a later time.
  void AddThread(uint32_t pid, uint32_t tid, std::string name, bool family);
  void Add(const SampleRecord& record);
  // Adds a record of CpuSampler::ReadCounted, before the records that are drained after it; it is
  // sorted in among them by time. Call SettleReadings after those: then the sums of all threads
  // include everything up to the reading.
  void AddReading(const SampleRecord& record);
  void SettleReadings();
  // Sets the interrupts that came while the thread ran, which another source counts. Ignores a
  // number below that of the last call.
  void SetInterrupts(uint32_t tid, uint64_t interrupts);

  const std::deque<ThreadAccount>& threads() const { return threads_; }
  const ThreadAccount& lost() const { return lost_; }

 private:
  struct Cpu {
    CountedValues last, reading;
    bool has_reading = false;
    bool has_lost = false;       // lost records since the last sample
    uint64_t offset = 0;         // CLOCK_MONOTONIC of enabled 0
    size_t running = kNoThread;  // account of the thread that was dispatched since the last sample
    uint64_t since = 0;          // enabled
  };
  static constexpr size_t kNoThread = ~size_t{0};

  size_t AccountOf(uint32_t pid, uint32_t tid);
  void Fork(const SampleRecord& record);
  void Sample(Cpu& cpu, const SampleRecord& record);
  void Attribute(Cpu& cpu, const CountedValues& now, uint64_t left, size_t who);
  void SettleReading(Cpu& cpu);

  std::deque<ThreadAccount> threads_;
  std::unordered_map<uint32_t, size_t> by_tid_;  // the latest thread of each id
  std::vector<Cpu> cpus_;
  ThreadAccount lost_;
};

}  // namespace jprof::ptm
