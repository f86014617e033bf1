// Reads small files that other users may have made.
#pragma once

#include <filesystem>
#include <string>

namespace jprof::record {

inline constexpr size_t kMostOfSmallFile = 8192;

// Returns the first kMostOfSmallFile bytes of a regular file. Returns an empty text if it cannot be
// read, or is something else: a symbolic link, a FIFO, a device. Never blocks.
std::string ReadSmallFile(const std::filesystem::path& path);

}  // namespace jprof::record
