// Counts the threads of a process tree, of the machine or of a command, and prints
// tables: `jprof ptt`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/names/event_name.h"
#include "record/count/count_table.h"
#include "record/kernel/kernel_events.h"
#include "record/run/java_command.h"

namespace jprof::record {

struct WatchPlan {
  std::optional<Launch> launch;  // the command to run and count
  uint32_t pid = 0;     // counted with its descendants if there is no `launch`; 0 for the machine
  double interval = 0;  // seconds of a table; 0 for one table at the end
  uint64_t count = 0;   // number of tables; 0 for tables until the end
  bool real_time = false;  // read the counts at real-time priority
  ptm::CheckedMetrics metrics;
  std::optional<KernelEvents> interrupts;  // counts them
  std::string target;                      // what is counted, for the user
};

// Puts dispatches first and adds them if they are missing.
void PutDispatchesFirst(std::vector<ptm::CheckedMetric>& metrics);

// Adds interrupts after the first metric if they can be counted; else a note says why not.
void AddInterrupts(WatchPlan& plan);

using PrintTable = std::function<Result<void>(const CountTable&)>;

// Counts until the tables are printed and the command has ended, or else the process has ended or
// SIGINT or SIGTERM arrives. Prints the notes of the metrics once counting has started. Returns the
// exit status of the command, or 0 without one.
Result<int> WatchThreads(WatchPlan plan, const PrintTable& print);

}  // namespace jprof::record
