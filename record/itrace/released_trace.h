// Runs a tracer over a program from its beginning.
#pragma once

#include "common/result.h"
#include "itrace/tracer.h"
#include "record/run/launcher.h"

namespace jprof::record {

// Runs the trace and releases `program` beside it, because the program may be stopped before it
// executes, and only the tracer lets it go on. `program` is null if there is none to release.
// Returns what Run returns; `released` is what ReleaseTraced returned.
Result<void> RunReleased(itrace::Tracer& tracer, HeldProgram* program, Result<void>& released);

}  // namespace jprof::record
