// Finds the control groups of the calling process, of version 2 and 1, and the memory that they
// leave. A process has the limits of its own group and of every group above it.
//
// `root` is where proc is mounted; tests pass a directory that they made. Groups whose directories
// are not mounted, or whose files cannot be read, set no limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/procfs.h"

namespace jprof {

// Returns the directories of the process's group with this controller ("memory") and of the groups
// above it, innermost first, as far as they are mounted here.
std::vector<std::string> ControlGroups(std::string_view controller,
                                       const std::string& root = procfs::kRoot);

// Returns the lowest limit of memory in bytes, or nothing if there is no limit.
std::optional<uint64_t> MemoryLimit(const std::string& root = procfs::kRoot);

// Returns the number of bytes that the process can use without swapping and without reaching the
// limit of a group. A group's page cache that the kernel can drop counts as available.
std::optional<uint64_t> AvailableMemory(const std::string& root = procfs::kRoot);

}  // namespace jprof
