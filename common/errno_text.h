// Returns the text of an errno value. Thread-safe.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace jprof {

inline std::string ErrnoText(int error = errno) { return std::generic_category().message(error); }

}  // namespace jprof
