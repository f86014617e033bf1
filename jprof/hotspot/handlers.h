// What the probes jump to: the engine's fast path, once per kind of recording, with and without the
// check for virtual threads. tests/e2e checks what the compiler made of them.
#pragma once

#include <cstdint>

#include "jprof/hotspot/probe.h"

namespace jprof::hotspot {

using Handler = int (*)(char* java_thread, void* method);
struct Handlers {
  Handler entry;
  Handler exit;
};

// `train`: also write what calibration learns from (time and counters; others have nothing to learn).
// `continuation_offset`: Vm::continuation_offset(); -1 = no virtual threads to tell apart.
Handlers HandlersFor(Recording recording, bool train, int64_t continuation_offset);

}  // namespace jprof::hotspot
