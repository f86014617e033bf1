// The profiles that the processes of one command made: JVMs, and programs with hooks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace jprof::record {

struct JvmProfile {
  std::filesystem::path path;
  uint32_t pid = 0;
  std::vector<std::string> command;
  uint64_t cpu_nanos = 0;  // of the recorded threads; of the process while it runs
  uint64_t size = 0;       // contexts or trace blocks
  uint32_t methods = 0;
  bool jvm = false;
  bool runs = false;       // the process is not finished
  std::string unreadable;  // why it could not be read; empty if it was
};

// Returns the profiles at `place` (ProfilesAt), the busiest first: by CPU time, then by size.
std::vector<JvmProfile> JvmProfilesAt(const std::filesystem::path& place, std::error_code& failed);
std::vector<JvmProfile> JvmProfilesAt(const std::filesystem::path& place);

// Call when the command has ended. Removes profiles that were read and have no method if others
// have some, and
// then moves the only profile of a JVM that has ended to `place`, so that it has the requested
// name.
struct SettledProfiles {
  std::vector<JvmProfile> profiles;  // the busiest first
  std::vector<std::string> notes;    // for the user
};
SettledProfiles SettleProfiles(const std::filesystem::path& place);

// Of a JVM that outlives the command; empty: it has ended.
std::string StillRunsText(const JvmProfile& profile);

}  // namespace jprof::record
