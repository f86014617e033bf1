// Runs a command and counts its events: `jprof stat`.
#pragma once

#include "common/result.h"
#include "ptm/names/event_name.h"
#include "record/count/count_table.h"
#include "record/run/java_command.h"

namespace jprof::record {

struct CommandCounts {
  CountTable table;
  int exit_code = 0;  // the command's
};

// Counts every thread. With `real_time`, reads the counts at real-time priority.
Result<CommandCounts> CountThreads(const Launch& launch, const ptm::CheckedMetrics& metrics,
                                   bool real_time);

// Returns one sum for the command and its descendants, for users who may not sample whole CPUs.
Result<CommandCounts> CountSum(const Launch& launch, const ptm::CheckedMetrics& metrics);

}  // namespace jprof::record
