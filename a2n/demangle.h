// Names as people wrote them.
#pragma once

#include <string>

namespace jprof::a2n {

// C++ (Itanium) and Rust (legacy, its hash left out; v0 where libiberty was there at build time);
// anything else comes back as it is.
std::string Demangle(const char* name);

}  // namespace jprof::a2n
