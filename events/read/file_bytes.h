// Reads files of a trace.
#pragma once

#include <cstdint>
#include <string>

namespace jprof::events {

// Returns at most so many bytes of a regular file from an offset on, or nothing if it cannot be
// read. Does not wait for what is no regular file.
std::string ReadBytes(const std::string& path, uint64_t most, uint64_t from = 0);

}  // namespace jprof::events
