// Converts linkage names to source names.
#pragma once

#include <string>

namespace jprof::a2n {

// C++ (Itanium) and Rust (legacy without its hash, and v0). Any other name is returned unchanged.
std::string Demangle(const char* name);

}  // namespace jprof::a2n
