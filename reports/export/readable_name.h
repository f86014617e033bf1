// Names of methods in the notation of Java sources, for tools that show names to people.
#pragma once

#include <string>
#include <string_view>

namespace jprof::reports {

// "pkg/Class.method(I[J)V" -> "pkg.Class.method(int, long[])". Text that has no descriptor of a
// method at its end, or a damaged one, is returned unchanged.
std::string ReadableMethod(std::string_view full);

// "pkg/Class.method(I[J)V" -> "pkg/Class.method"; other text unchanged.
std::string_view WithoutSignature(std::string_view full);

}  // namespace jprof::reports
