// Implements `jprof ctl reset`.
#pragma once

#include "jprof/agent/sampling/sample_gate.h"
#include "jprof/engine/session.h"

namespace jprof::agent {

// Returns whether no sample is in progress. Call this only while the gate is closed.
bool NoSampleInProgress(engine::Session& session);

// Sets the data of samples to 0: metrics, counters of threads, and requested or deferred periods.
// Call this only while the gate is closed and no sample is in progress.
void ForgetSamples(engine::Session& session, uint32_t metric_count);

}  // namespace jprof::agent
