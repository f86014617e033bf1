// Runs a program under a tracer that counts the instructions of its threads where they can read
// their number (ptm/thread_instructions.h), for machines without a hardware counter.
#pragma once

#include <string>

#include "common/result.h"
#include "record/run/launcher.h"

namespace jprof::record {

struct TracedPart {
  // These are exported functions of the program or of a library. A thread is traced from a call of
  // the first one to its next call of the second one, or to its end if that is empty.
  std::string begin, end;
  // If true, all threads are traced from the first call of `begin`; otherwise each
  // one that calls it.
  bool all_threads = false;
};

// Starts the program and waits for its end. The program runs untraced where nothing calls `begin`.
// Fails with kWrongUse if the program could not be started, otherwise if it cannot be traced.
Result<Outcome> RunTraced(const Launch& launch, const TracedPart& part);

}  // namespace jprof::record
