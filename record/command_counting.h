// Runs a command and counts its events: `jprof stat`.
#pragma once

#include "common/result.h"
#include "ptm/names/event_name.h"
#include "record/count_table.h"
#include "record/java_command.h"

namespace jprof::record {

struct CommandCounts {
  CountTable table;
  int exit_code = 0;  // the command's
};

// Thread by thread. `hurry`: reads the counts at real-time priority.
Result<CommandCounts> CountThreads(const Launch& launch, const ptm::CheckedMetrics& metrics,
                                   bool hurry);

// One sum for the command and everything it starts: for users who may not sample whole CPUs.
Result<CommandCounts> CountSum(const Launch& launch, const ptm::CheckedMetrics& metrics);

}  // namespace jprof::record
