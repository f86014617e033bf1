// Prepares the directory of a new profile. The agent creates it; these functions check in
// advance that it can.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "common/result.h"
#include "profile/read/combined.h"
#include "profile/read/scale_meta.h"

namespace jprof::record {

// Returns the absolute path, without a slash at its end.
Result<std::filesystem::path> ResolvedPlace(const std::filesystem::path& place);

// Returns an unused name in the working directory: NAME.jprof, NAME-2.jprof, ...
std::filesystem::path FreePlace(const std::string& name);

// Makes sure that `place` does not exist and can be created. Returns it as an absolute path.
// Removes an empty directory, and with `force` a profile, a combined profile, a result of jprof
// scale or a directory of several. Fails with kWrongUse if anything else is there.
Result<std::filesystem::path> PreparePlace(const std::filesystem::path& place, bool force);

// Fails if PreparePlace could not replace what is at `place`. Changes nothing.
Result<void> CheckPlace(const std::filesystem::path& place, bool force);

// Makes the directory of a combined profile, or of several.
Result<void> MakePlace(const std::filesystem::path& place);

// Makes `directory`, which has the profiles of `meta`, a combined profile.
Result<void> WriteRuns(const std::filesystem::path& directory, const profile::CombinedMeta& meta);
// Makes `directory`, which has the combined profiles of `meta`, a result of jprof scale.
Result<void> WriteScale(const std::filesystem::path& directory, const profile::ScaleMeta& meta);

bool IsProfile(const std::filesystem::path& directory);

// Returns whether `directory` contains profiles that the JVMs of one command made (NAME-PID) and is
// no profile or combined profile itself.
bool IsSeveral(const std::filesystem::path& directory);

// Returns `place` if it is a profile, else the profiles in it that JVMs made, by name. Sets
// `failed` if the directory cannot be listed; one that does not exist has no profiles.
std::vector<std::filesystem::path> ProfilesAt(const std::filesystem::path& place,
                                              std::error_code& failed);
std::vector<std::filesystem::path> ProfilesAt(const std::filesystem::path& place);

// Removes the files of a trace of events, but not its folder. Fails with kWrongUse if anything else
// is in it; nothing is removed then.
Result<void> EmptyTrace(const std::filesystem::path& trace);

// Fails with kWrongUse unless the folder has nothing but recorded events (docs/TIMELINE.md).
Result<void> CheckEvents(const std::filesystem::path& events);
// Removes such a folder.
void RemoveEvents(const std::filesystem::path& events);

// Removes the files of a profile and its directory.
void RemoveProfile(const std::filesystem::path& profile);

}  // namespace jprof::record
