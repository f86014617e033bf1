// Runs a tracer over a program from its beginning.
#pragma once

#include "common/result.h"
#include "itrace/tracer.h"
#include "record/launcher.h"

namespace jprof::record {

// Releases `program` (null: there is none to release) beside the trace, because the program may be
// stopped before it executes, and only the tracer lets it go on. Returns what Run returns;
// `released`: what ReleaseTraced returned.
Result<void> RunReleased(itrace::Tracer& tracer, HeldProgram* program, Result<void>& released);

}  // namespace jprof::record
