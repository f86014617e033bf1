// Provides the functions that patched sleds call. See sleds.h.
#pragma once

#include <cstdint>

#include "jprof/engine/recording.h"

namespace jprof::hookit {

// Handles an event of a function, which is given by its number (function_source.h). `sp` is the
// address of its return address.
using SledHandler = void (*)(uint64_t function, uint64_t sp);

// Sets the handlers that record into the engine's session.
void SetSledHandlers(engine::RecordingKind kind, bool train);

// Sets handlers that do nothing.
void ClearSledHandlers();

}  // namespace jprof::hookit
