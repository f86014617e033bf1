// Finds contradicting orders among those in which locks were taken.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/locks/lock_table.h"

namespace jprof::model {

// Returns the cycles: those of the same objects first, then those of classes that contain none of
// these. Orders of two objects of one class are a cycle only if the objects are the same.
std::vector<LockCycle> FindCycles(std::span<const LockOrder> orders,
                                  std::span<const LockContext> contexts);

}  // namespace jprof::model
