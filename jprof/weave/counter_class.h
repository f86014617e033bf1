// The class that woven methods call: java/java/lang/JprofCounter.java, compiled with jprof.
#pragma once

#include <cstdint>
#include <span>

namespace jprof::weave {

// The bytes of its class file; empty: jprof was built without a JDK.
std::span<const uint8_t> CounterClass();

}  // namespace jprof::weave
