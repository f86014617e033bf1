// Counts for every thread of the machine, from outside: `jprof stat` and `jprof ptt`. A sample at
// each dispatch attributes a CPU's counts to a thread, so every thread is counted, however short
// its life. Requires the permission to sample whole CPUs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/procfs.h"
#include "common/result.h"
#include "ptm/dispatch_accounts.h"
#include "ptm/names/event_name.h"
#include "record/count_table.h"

namespace jprof::record {

// The metrics to count: `asked`, checked; if that is empty, the default metrics that this machine
// can count, and `notes` reports a missing one.
Result<ptm::CheckedMetrics> ChooseMetrics(const std::vector<std::string>& asked);

// A process and its descendants.
std::set<uint32_t> ProcessTree(uint32_t root, const std::string& proc = procfs::kRoot);

// ASCII: other bytes of a thread's name, which may be any, become '?'.
std::string PrintableName(std::string name);

// What an account counted between two moments, in the order of the metrics.
std::vector<double> CountsBetween(const std::vector<ptm::CheckedMetric>& metrics,
                                  const ptm::ThreadAccount& before, const ptm::ThreadAccount& now);

class ThreadCounting {
 public:
  // Starts counting. Wrong use: this user may not, or the events do not fit; the error says what
  // helps.
  static Result<ThreadCounting> Start(std::vector<ptm::CheckedMetric> metrics);

  // Adds the threads that exist, with their names. The family, which tables show, is the process
  // `root` and its descendants; 0: all processes.
  void AddExisting(uint32_t root);
  void AddFamily(uint32_t pid);  // that has just been forked

  static constexpr int kDrainMilliseconds = 20;
  void Drain();       // call every kDrainMilliseconds
  void Sync();        // drains; sums then reach to this moment
  void StartTable();  // later tables begin at the last Sync

  // The family's threads that have run, from the start or StartTable to the last Sync.
  CountTable Table() const;

  // Gives this process real-time priority (SCHED_RR), but not its later children; the process loses
  // it when it computes for kPriorityMilliseconds without a pause. Prints an error if it is not
  // permitted. The rings have room for 20,000 dispatches, which a busy machine makes in 50 ms.
  static void RaisePriority();
  static constexpr int kPriorityMilliseconds = 500;

 private:
  ThreadCounting(std::vector<ptm::CheckedMetric> metrics, ptm::CpuSampler sampler);

  std::vector<ptm::CheckedMetric> metrics_;
  ptm::CpuSampler sampler_;
  ptm::DispatchAccounts accounts_;
  bool everyone_ = false;                   // all processes are the family
  uint64_t start_, now_ = 0;                // of the table; of the last Sync
  std::vector<ptm::ThreadAccount> before_;  // when the table was started
  ptm::ThreadAccount lost_before_;
};

}  // namespace jprof::record
