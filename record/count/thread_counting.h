// Counts every thread of the machine from outside the processes: `jprof stat` and `jprof ptt`. A
// sample at each dispatch attributes a CPU's counts to a thread, so even the shortest thread is
// counted. Requires the permission to sample whole CPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/procfs.h"
#include "common/result.h"
#include "ptm/dispatch_accounts.h"
#include "ptm/names/event_name.h"
#include "record/count/count_table.h"
#include "record/kernel/kernel_events.h"

namespace jprof::record {

// Checks the metrics `names`. If it is empty, returns the default metrics that this machine can
// count; `notes` reports missing ones.
Result<ptm::CheckedMetrics> ChooseMetrics(const std::vector<std::string>& names);

// Returns a process and its descendants.
std::set<uint32_t> ProcessTree(uint32_t root, const std::string& proc = procfs::kRoot);

// Replaces all bytes that are not printable ASCII by '?': thread names may contain any bytes.
std::string PrintableName(std::string name);

// Returns the counts of an account between two moments, in the order of the metrics.
std::vector<double> CountsBetween(const std::vector<ptm::CheckedMetric>& metrics,
                                  const ptm::ThreadAccount& before, const ptm::ThreadAccount& now);

class ThreadCounting {
 public:
  // Starts counting. Fails with kWrongUse if this user may not count, or if the events do not fit;
  // the message proposes a solution.
  static Result<ThreadCounting> Start(std::vector<ptm::CheckedMetric> metrics);

  // Adds the existing threads with their names. Tables show the family: the process `root` and its
  // descendants, or all processes if it is 0.
  void AddExisting(uint32_t root);
  void AddFamily(uint32_t pid);  // `pid` has just been forked

  static constexpr int kDrainMilliseconds = 20;
  void Drain();  // call every kDrainMilliseconds
  void Sync();   // drains; the sums then include all counts so far
  // Counts interrupts, too, for the metric kInterrupts, with programs that run already.
  void CountInterrupts(KernelEvents kernel) { kernel_.emplace(std::move(kernel)); }
  void StartTable();  // later tables begin at the last Sync

  // Returns the counts of the family's threads that have run, from the start or
  // StartTable to the last Sync.
  CountTable Table() const;

  // Gives this process real-time priority (SCHED_RR), which its later children do not inherit. The
  // process loses it after kPriorityMilliseconds of computing without a pause. Prints an error if
  // it is not permitted. The rings hold 20,000 dispatches, which a busy machine makes in 50 ms.
  static void RaisePriority();
  static constexpr int kPriorityMilliseconds = 500;

 private:
  ThreadCounting(std::vector<ptm::CheckedMetric> metrics, ptm::CpuSampler sampler);

  std::vector<ptm::CheckedMetric> metrics_;
  ptm::CpuSampler sampler_;
  ptm::DispatchAccounts accounts_;
  std::optional<KernelEvents> kernel_;      // counts interrupts
  bool all_processes_ = false;              // the family includes all processes
  uint64_t start_, now_ = 0;                // of the table; of the last Sync
  std::vector<ptm::ThreadAccount> before_;  // when the table was started
  ptm::ThreadAccount lost_before_;
};

}  // namespace jprof::record
