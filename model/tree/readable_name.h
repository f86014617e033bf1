// Converts names of methods to the notation of Java sources, for tools that show names to people.
#pragma once

#include <string>
#include <string_view>

namespace jprof::model {

// Converts "pkg/Class.method(I[J)V" to "pkg.Class.method(int, long[])". Returns text unchanged that
// has no descriptor of a method at its end, or a damaged one.
std::string ReadableMethod(std::string_view full);

// Converts "pkg/Class.method(I[J)V" to "pkg/Class.method". Returns other text unchanged.
std::string_view WithoutSignature(std::string_view full);

}  // namespace jprof::model
