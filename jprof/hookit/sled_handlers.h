// What patched sleds call. See sleds.h.
#pragma once

#include <cstdint>

#include "jprof/engine/recording.h"

namespace jprof::hookit {

// `function`: its number (function_source.h). `sp`: where its return address is.
using SledHandler = void (*)(uint64_t function, uint64_t sp);

// Sets the handlers that record into the engine's session.
void SetSledHandlers(engine::RecordingKind kind, bool train);

// Sets those that do nothing.
void ClearSledHandlers();

}  // namespace jprof::hookit
