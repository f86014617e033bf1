// Limits the memory of a recording. The pages of a profile are in memory until the kernel writes
// them to disk; a profile on tmpfs stays in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::record {

struct Memory {
  uint64_t available = 0;    // bytes; 0 if unknown, which disables the checks
  bool holds_files = false;  // the profile's file system is tmpfs or ramfs
};

// `place` is the path of the profile. Its nearest existing parent determines the file system.
Memory ReadMemory(const std::filesystem::path& place);

// Keeps the caps of `options` within a third of the available memory.
// - The call tree's cap is lowered if it is the default; `notes` then has a line about it.
// - Fails with kWrongUse if any other cap is above the limit; the message names the option.
// - The trace's cap counts once, although each thread has one.
// - With `forced`, nothing is checked.
Result<void> LimitMemory(options::AgentOptions& options, const Memory& memory, bool forced,
                         std::vector<std::string>& notes);

}  // namespace jprof::record
