// What the hooks of C and C++ functions call. See docs/HOOKS.md.
#pragma once

#include "jprof/engine/recording.h"

namespace jprof::hookit {

// `function`: its address. Callable on any thread at any time, also in signal handlers.
using Handler = void (*)(void* function, void* call_site);

struct Handlers {
  Handler enter = nullptr;
  Handler leave = nullptr;
};

// Those that record into the engine's session. `train`: as for engine::Visit.
Handlers HandlersFor(engine::RecordingKind kind, bool train);

// Those that do nothing.
Handlers InertHandlers();

}  // namespace jprof::hookit
