// Provides the handlers of the allocation probe, by the arguments of the function that each
// replaces, and by what the tree is made from.
#pragma once

#include <cstdint>
#include <optional>

#include "jprof/engine/session.h"
#include "jprof/hotspot/objects/allocation_probe.h"
#include "jprof/hotspot/objects/object_layout.h"
#include "jprof/hotspot/objects/object_marks.h"

namespace jprof::hotspot {

// Sets what the handlers use. Call this before one is installed.
void SetAllocationGlobals(engine::Session& session, const ObjectLayout& layout,
                          const std::optional<ObjectMarks>& marks);

// Returns the address of a handler.
uint64_t AllocationHandler(AllocationArguments arguments, bool woven, Noted noted);
// Returns that of a handler which does nothing, for all arguments.
uint64_t InertAllocationHandler();

}  // namespace jprof::hotspot
