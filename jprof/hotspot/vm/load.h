// Reads a value at an address, aligned or not. The caller must know that the address is readable.
#pragma once

#include <cstdint>
#include <cstring>

namespace jprof::hotspot {

template <typename T>
T LoadAt(uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

}  // namespace jprof::hotspot
