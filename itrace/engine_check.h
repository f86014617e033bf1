// Checks that the block engine works here, before a program is traced with it.
#pragma once

#include "common/result.h"

namespace jprof::itrace {

// Traces code with a known number of instructions in a child of this process. Error: what is wrong.
Result<void> CheckEngine();

}  // namespace jprof::itrace
