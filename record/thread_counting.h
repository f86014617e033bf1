// Counts of every thread of the machine, from outside: `jprof stat` and `jprof ptt`. One sample at
// each dispatch tells whose a CPU's counts are, so no thread is too short and none has to be found;
// it needs the permission to watch whole CPUs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/dispatch_accounts.h"
#include "ptm/names/event_name.h"
#include "record/count_table.h"

namespace jprof::record {

// What to count: `asked` checked or, if there is nothing asked, what a first look wants and this
// machine has; then `notes` says what is missing.
Result<ptm::CheckedMetrics> ChooseMetrics(const std::vector<std::string>& asked);

inline constexpr char kHurryHelp[] =
    "Read what was counted at real-time priority: less is lost on a machine that is overloaded";

class ThreadCounting {
 public:
  // Counting from now on. Error (exit code 2): what this user may not do or what does not fit, and
  // what helps.
  static Result<ThreadCounting> Start(std::vector<ptm::CheckedMetric> metrics);

  // The threads that are there, with their names; `root`: with all it started, the family (0:
  // everyone is).
  void AddExisting(uint32_t root);
  void AddFamily(uint32_t pid);  // has just been forked

  // From now on this process, and nothing that it forks, gets a CPU at once (SCHED_RR); it loses
  // that when it computes for kHurryMilliseconds without a pause. False: not allowed. A busy
  // machine makes 20,000 dispatches, as many as there is room for, in 50 ms.
  static bool Hurry();
  static constexpr int kHurryMilliseconds = 500;
  static constexpr char kNoHurry[] =
      "--hurry has no effect: real-time priority needs root, CAP_SYS_NICE or a limit (ulimit -r)";
  static constexpr int kDrainMilliseconds = 20;
  void Drain();       // every kDrainMilliseconds
  void Sync();        // drains, and the sums reach to this moment
  void StartTable();  // what was counted up to the last Sync is not in the tables to come

  // The family's threads that have run, from the start or StartTable to the last Sync.
  CountTable Table() const;

 private:
  ThreadCounting(std::vector<ptm::CheckedMetric> metrics, ptm::Sampler sampler);
  std::vector<double> CountsOf(const ptm::ThreadAccount& now,
                               const ptm::ThreadAccount& before) const;

  std::vector<ptm::CheckedMetric> metrics_;
  ptm::Sampler sampler_;
  ptm::DispatchAccounts accounts_;
  bool everyone_ = false;                   // is family
  uint64_t start_, now_ = 0;                // of the table; of the last Sync
  std::vector<ptm::ThreadAccount> before_;  // of the first threads, when the table was started
  ptm::ThreadAccount lost_before_;
};

}  // namespace jprof::record
