// What the probes jump to: the engine's fast path, once per kind of recording, with and without the
// check for virtual threads, and with and without an early way out for what is not recorded.
// tests/e2e checks what the compiler made of them.
#pragma once

#include <cstdint>

#include "jprof/hotspot/probe.h"

namespace jprof::hotspot {

using Handler = int (*)(char* java_thread, void* method);
struct Handlers {
  Handler entry;
  Handler exit;
};

Handlers HandlersFor(engine::RecordingKind kind, Probing probing, ThreadMarks marks);

// Where the interpreter is, once there is one: only from there focused handlers take the early way
// out.
void SetInterpreter(uint64_t begin, uint64_t bytes);

}  // namespace jprof::hotspot
