// Makes numbers that are the same in every run.
#pragma once

#include <stdint.h>

// Returns a number less than `limit`, and moves the state on (xorshift).
static inline uint32_t Below(uint64_t* state, uint32_t limit) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)((*state >> 32) * limit >> 32);
}
