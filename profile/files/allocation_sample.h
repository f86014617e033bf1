// Computes how objects are sampled in proportion to their size.
//
// A point is drawn in the stream of allocated bytes every N bytes on average, at a constant rate (a
// Poisson process; JEP 331), and the object that it falls into is a sample. An object of s bytes is
// sampled with the probability p = 1 - exp(-s / N), independently of the others. So each sample
// stands for 1 / p objects and s / p bytes: the sums over the samples are unbiased (Horvitz and
// Thompson, 1952, "A generalization of sampling without replacement from a finite universe").
#pragma once

#include <cmath>
#include <cstdint>

namespace jprof::profile {

// Returns p. Requires that the interval N is not 0.
inline double SampledProbability(uint64_t bytes, uint64_t interval) {
  return -std::expm1(-static_cast<double>(bytes) / static_cast<double>(interval));
}

}  // namespace jprof::profile
