// Converts linkage names to source names.
#pragma once

#include <string>

namespace jprof::a2n {

// Demangles names of C++ (Itanium) and Rust (legacy without its hash, and v0). Returns any other
// name unchanged.
std::string Demangle(const char* name);

}  // namespace jprof::a2n
