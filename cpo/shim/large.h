// Blocks and mappings of at least the threshold: they are logged, and put on large pages if a
// directive says so. All functions do what those of the C library do, and preserve errno where they
// do.
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace jprof::cpo {

// A constant, so that small blocks cost no load of a variable.
inline constexpr size_t kLeastThreshold = 128 << 10;
inline bool IsSmall(size_t bytes) { return bytes < kLeastThreshold; }

// Returns whether a block of this size reaches the plan's threshold, which is kLeastThreshold or
// more. The process logs.
bool IsLogged(size_t bytes);

void* LargeMalloc(size_t bytes);
void* LargeCalloc(size_t bytes);
void* LargeRealloc(void* block, size_t bytes);
void* LargeAligned(size_t alignment, size_t bytes);
void LargeFree(void* block);

}  // namespace jprof::cpo
