// Provides the class that woven methods call: java/java/lang/JprofCounter.java, compiled
// with jprof.
#pragma once

#include <cstdint>
#include <span>

namespace jprof::weave {

// Returns the bytes of its class file, which are empty if jprof was built without a JDK.
std::span<const uint8_t> CounterClass();

}  // namespace jprof::weave
