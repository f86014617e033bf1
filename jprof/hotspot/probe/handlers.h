// Provides the targets of the probes: the engine's fast path, instantiated per kind of recording,
// with and without the check for virtual threads, with and without early exits for methods that
// are not recorded and for what is outside of gates, and beside functions with hooks. tests/e2e
// checks the generated code.
#pragma once

#include <cstdint>

#include "jprof/hotspot/probe/probe.h"

namespace jprof::hotspot {

using Handler = int (*)(char* java_thread, void* method);
struct Handlers {
  Handler entry;
  Handler exit;
};

Handlers HandlersFor(engine::RecordingKind kind, Probing probing, ThreadMarks marks);

// Returns those of a session with gates (Probing::gated). Requires that the marks have been set.
Handlers GatedHandlersFor(engine::RecordingKind kind, bool beside_hooks);

// Returns handlers that do nothing.
Handlers InertHandlers();

// Sets the range of the interpreter, once it exists. Focused handlers use the early exit only
// for calls from there.
void SetInterpreter(uint64_t begin, uint64_t bytes);

}  // namespace jprof::hotspot
