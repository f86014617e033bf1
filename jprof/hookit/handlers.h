// Provides the functions that the hooks of C and C++ functions call. See docs/HOOKS.md.
#pragma once

#include "jprof/engine/labels/labels.h"
#include "jprof/engine/recording.h"

namespace jprof::hookit {

// Handles an event of the function at an address. Can be called on any thread at any time, also
// in signal handlers.
using Handler = void (*)(void* function, void* call_site);

struct Handlers {
  Handler enter = nullptr;
  Handler leave = nullptr;
  engine::LabelFunction label = nullptr;  // sets the label that the program gives
  engine::LabelFunction mark = nullptr;   // marks the calling context
};

// Returns the handlers that record into the engine's session. `train` is as for engine::Visit.
Handlers HandlersFor(engine::RecordingKind kind, bool train);

// Returns handlers that do nothing.
Handlers InertHandlers();

}  // namespace jprof::hookit
