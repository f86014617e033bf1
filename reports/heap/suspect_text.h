// Describes what may be a leak.
#pragma once

#include <string>

#include "heap/analysis/suspects.h"

namespace jprof::reports {

// Returns a sentence about a suspect.
std::string SuspectText(const heap::Heap& heap, const heap::Suspect& suspect);

}  // namespace jprof::reports
