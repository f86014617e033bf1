// Records a command with the agent. `jprof callflow|calltree|...` do that, and others with a
// companion that records something else meanwhile.
#pragma once

#include <cstdint>

#include "cli/shared/commands.h"
#include "common/result.h"
#include "record/agent/recording_plan.h"
#include "record/agent/run_watch.h"
#include "record/run/launcher.h"

namespace jprof::cli {

class Companion {
 public:
  // Is called before the command starts. If it fails, the command does not start.
  virtual Result<void> Begin(const record::RecordingPlan& plan) = 0;
  // Is called at the start of the command and every tenth of a second while it runs.
  virtual void Observe(uint32_t pid) = 0;
  // Is called when the command has ended. Returns the exit status.
  virtual Result<int> End(const record::RecordingPlan& plan, const record::Outcome& outcome,
                          record::RunWatch& watch) = 0;

 protected:
  ~Companion() = default;
};

// Runs the command with the agent. Returns the exit status.
Result<int> RecordCommand(const record::TypedOptions& typed, const Command& command,
                          Companion* companion = nullptr);

// Prints what the agent recorded, and returns the exit status.
int ReportRun(const record::RecordingPlan& plan, const record::Outcome& outcome,
              record::RunWatch& watch);

}  // namespace jprof::cli
