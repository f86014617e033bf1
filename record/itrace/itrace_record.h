// Runs `jprof itrace`: traces as planned and writes the recording.
#pragma once

#include <string>
#include <vector>

#include "itrace/trace_events.h"
#include "record/itrace/itrace_plan.h"

namespace jprof::record {

struct ItraceSummary {
  std::vector<itrace::ThreadTotals> threads;
  std::vector<std::string> notes;
  std::string engine;
  double seconds = 0;  // since the begin of the trace
  bool began = false;
  uint64_t calls = 0;
  int exit_code = 0;  // of the command; 0 for a process
};

// Calls `progress` several times a second with the number of instructions, and with false while the
// begin has not been reached.
Result<ItraceSummary> RecordItrace(const ItracePlan& plan,
                                   const std::function<void(uint64_t, bool)>& progress);

}  // namespace jprof::record
