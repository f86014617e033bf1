// Provides the classes that woven methods call, java/java/lang/Jprof*.java, compiled with jprof.
#pragma once

#include <cstdint>
#include <span>

namespace jprof::weave {

// Return the bytes of the class files, which are empty if jprof was built without a JDK.
std::span<const uint8_t> CounterClass();
std::span<const uint8_t> LabelsClass();
std::span<const uint8_t> HeldClass();
std::span<const uint8_t> LocksClass();
std::span<const uint8_t> ConcurrentClass();

}  // namespace jprof::weave
