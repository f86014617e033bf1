// Provides memory in mappings of its own, for code that must not call malloc, such as a probe.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace jprof {

// Returns zeroed memory, of which only what is written takes space. Returns null if there is none.
inline void* MapBytes(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Returns a zeroed array, or null if there is no memory. No constructor is called: requires that
// zeros are a valid T.
template <class T>
T* MapArray(size_t count) {
  return static_cast<T*>(MapBytes(count * sizeof(T)));
}

// Frees an array of MapArray with this `count`, without a call of destructors. Does nothing if
// `array` is null.
template <class T>
void UnmapArray(T* array, size_t count) {
  if (array != nullptr) munmap(array, count * sizeof(T));
}

}  // namespace jprof
