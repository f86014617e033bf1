// Reads files of a trace.
#pragma once

#include <cstdint>
#include <string>

namespace jprof::events {

// Returns the first bytes of a file, at most so many, or nothing if it cannot be read.
std::string ReadBytes(const std::string& path, uint64_t most);

}  // namespace jprof::events
