// Runs the sequence of `jprof profile`, and makes a combined profile of what was recorded.
#pragma once

#include "common/result.h"
#include "profile/read/combined.h"
#include "record/agent/run_sequence.h"

namespace jprof::record {

struct SequenceEnd {
  int status = 0;         // the exit status of the first run, or the status without a profile
  bool combined = false;  // the directory is a combined profile, of which a report can be made
};

// Runs the program and prints a line about each run. `meta` describes the combined profile so far:
// the version of jprof and the command. Fails if nothing was recorded because the program could not
// be started, or if the combined profile cannot be written.
Result<SequenceEnd> RunAll(const RunSequence& sequence, profile::CombinedMeta meta);

}  // namespace jprof::record
