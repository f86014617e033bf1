// The groups of memory of this process: each has a number, by which the log names it.
#pragma once

#include <stdint.h>

namespace jprof::cpo {

inline constexpr uint32_t kNoGroup = UINT32_MAX;

// Returns the group of this kind and key. Returns kNoGroup if there are too many.
uint32_t GroupOf(const char* kind, const char* key);

// Returns the group of memory that the program is about to get: kind site, and the places outside
// of the C library, libstdc++ and this library from which it was called. Logs modules that are new,
// with their static data.
uint32_t GroupOfCaller();

// Returns the number of the group's directive, or -1 if there is none.
int DirectiveOfGroup(uint32_t group);

}  // namespace jprof::cpo
