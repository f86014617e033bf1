// Checks that the block engine works here, before a program is traced with it.
#pragma once

#include "common/result.h"

namespace jprof::itrace {

// Traces code with a known number of instructions in a child of this process. Fails with the reason
// if the engine does not work.
Result<void> CheckEngine();

}  // namespace jprof::itrace
