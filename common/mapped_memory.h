// Provides memory in mappings of its own, for code that must not call malloc, such as a probe.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

// Doubles the capacity of an array of MapArray, or allocates `first` elements if it is null. Copies
// the first `used` elements. Returns false, and changes nothing, if there is no memory.
template <class T>
bool GrowArray(T*& array, uint32_t used, uint32_t& capacity, uint32_t first) {
  const uint32_t larger = std::max(first, capacity * 2);
  T* const grown = MapArray<T>(larger);
  if (grown == nullptr) return false;
  std::copy_n(array, used, grown);
  UnmapArray(array, capacity);
  array = grown;
  capacity = larger;
  return true;
}

}  // namespace jprof
