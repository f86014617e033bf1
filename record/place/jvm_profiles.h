// Finds the profiles that the processes of one command made: JVMs, and programs with hooks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/procfs.h"

namespace jprof::record {

struct JvmProfile {
  std::filesystem::path path;
  uint32_t pid = 0;
  std::vector<std::string> command;
  uint64_t cpu_nanos = 0;  // of the recorded threads; of the process while it runs
  uint64_t size = 0;       // contexts or trace blocks
  uint32_t methods = 0;
  bool jvm = false;
  bool finished = false;   // the program ended normally
  bool runs = false;       // the process is not finished
  std::string unreadable;  // why it could not be read; empty if it was
};

// Returns the profiles at `place` (ProfilesAt), the busiest first: by CPU time, then by size.
std::vector<JvmProfile> JvmProfilesAt(const std::filesystem::path& place, std::error_code& failed);
std::vector<JvmProfile> JvmProfilesAt(const std::filesystem::path& place);

// Returns the running processes whose program has hooks and whose environment contains this
// variable with this value: those that the command has left running.
std::vector<uint32_t> RunningWithHooks(const std::pair<std::string, std::string>& variable,
                                       const std::string& proc = procfs::kRoot);

// Settles the profiles when the command has ended, given the result of RunningWithHooks. Removes
// profiles that were read and have no method if others have some. If one profile is left, moves it
// to `place`, so that it has the requested name, unless its process still runs or another one of
// `running` has yet to begin its profile.
struct SettledProfiles {
  std::vector<JvmProfile> profiles;  // the busiest first
  std::vector<std::string> notes;    // for the user
};
SettledProfiles SettleProfiles(const std::filesystem::path& place,
                               const std::vector<uint32_t>& running = {});

// Returns whether a JVM loaded the agent and ended before it ran any code, for example because it
// could not reserve its heap.
bool HasNotStarted(const JvmProfile& profile);

// Returns the message about a JVM that outlives the command, or an empty text if it has ended.
std::string StillRunsText(const JvmProfile& profile);

}  // namespace jprof::record
