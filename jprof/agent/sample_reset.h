// What `jprof ctl reset` does to the profile.
#pragma once

#include "jprof/agent/sample_gate.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

// Whether no thread is taking a sample; the gate is closed.
bool NoSampleIsBeingTaken(engine::Session& session);

// Sets all that samples have written to 0: metrics, counters of threads, and what has been
// requested or deferred. Only while no sample is being taken and the gate is closed.
void ForgetSamples(engine::Session& session, uint32_t metric_count);

}  // namespace jprof::agent
