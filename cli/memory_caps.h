// What a recording may take of the machine's memory. The pages of a profile lie in memory until the
// kernel writes them to disk; a profile on tmpfs stays there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::cli {

struct Memory {
  uint64_t available = 0;  // bytes, MemAvailable of /proc/meminfo; 0: not known, nothing is checked
  bool holds_files = false;  // the profile's file system is tmpfs or ramfs
};

// `place`: of the profile; its nearest parent that exists tells the file system.
Memory ReadMemory(const std::filesystem::path& place);

// Keeps the caps of `options` within a third of what is available: lowers the call tree's cap with
// a line in `notes` if it is the default, and otherwise returns an error (exit code 2) that names
// the option. The trace's cap counts once, though each thread has one. `forced`: nothing is
// checked.
Result<void> LimitMemory(agent::AgentOptions& options, const Memory& memory, bool forced,
                         std::vector<std::string>& notes);

}  // namespace jprof::cli
