// Blocks and mappings of at least the threshold: they are logged, and put on large pages if a
// directive says so. All functions do what those of the C library do, and preserve errno where they
// do.
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace jprof::cpo {

// The bytes from which on blocks are looked at. It is SIZE_MAX in a process that logs nothing.
[[gnu::visibility("hidden")]] extern size_t g_threshold;

inline bool IsSmall(size_t bytes) {
  return bytes < __atomic_load_n(&g_threshold, __ATOMIC_RELAXED);
}

void* LargeMalloc(size_t bytes);
void* LargeCalloc(size_t bytes);
void* LargeRealloc(void* block, size_t bytes);
void* LargeAligned(size_t alignment, size_t bytes);
void LargeFree(void* block);

}  // namespace jprof::cpo
