// Generates random numbers for decisions that need speed, not secrecy.
#pragma once

#include <cstdint>

namespace jprof {

// Returns the next of Marsaglia's xorshift64* series. Requires a `state` other than 0.
inline uint64_t NextRandom(uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1dull;
}

}  // namespace jprof
