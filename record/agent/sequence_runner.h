// Runs the sequence of `jprof profile`, and makes a combined profile of what was recorded.
#pragma once

#include "common/result.h"
#include "profile/read/combined.h"
#include "record/agent/run_sequence.h"
#include "record/run/program_runs.h"

namespace jprof::record {

struct SequenceEnd {
  int status = 0;  // the exit status of the first run, or the status without a profile
  // The directory is a combined profile, of which a report can be made if runs were sampled.
  bool combined = false;
  bool stopped = false;  // a run failed, was interrupted or was not recorded: others were left out
};

// Runs the program and prints a line about each run. `meta` describes the combined profile so far:
// the version of jprof and the command. Fails if nothing was recorded because the program could not
// be started, or if the combined profile cannot be written. `program` has the input of the runs; it
// may serve several sequences.
Result<SequenceEnd> RunAll(const RunSequence& sequence, profile::CombinedMeta meta,
                           ProgramRuns& program);

}  // namespace jprof::record
