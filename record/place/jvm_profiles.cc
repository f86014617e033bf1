#include "record/place/jvm_profiles.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "a2n/hooks.h"
#include "options/java_program.h"
#include "profile/read/reader.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

JvmProfile Describe(const fs::path& path) {
  JvmProfile profile = {.path = path};
  const auto reader = profile::Reader::Open(path.string());
  if (!reader) {
    profile.unreadable = reader.error().message;
    return profile;
  }
  const profile::ControlHeader& header = reader->header();
  profile.pid = static_cast<uint32_t>(reader->meta().pid);
  profile.command = reader->meta().command;
  profile.cpu_nanos = reader->CpuNanos();
  profile.size = header.node_count + header.trace_blocks;
  profile.methods = reader->RecordedMethods();
  profile.jvm = !reader->meta().jvm.version.empty();
  profile.finished = header.finished != 0;
  profile.runs = header.finished == 0 && profile.pid != 0 && procfs::Runs(profile.pid);
  if (profile.runs) profile.cpu_nanos = std::max(profile.cpu_nanos, procfs::CpuNanos(profile.pid));
  return profile;
}

std::string NameOf(const JvmProfile& profile) {
  return fmt::format("{} (PID {})", options::ProfileName(profile.command), profile.pid);
}

// Removes profiles without methods of processes that have ended, if any other profile has methods.
void LeaveOutEmpty(SettledProfiles& settled) {
  if (std::ranges::all_of(settled.profiles, [](const auto& p) { return p.methods == 0; })) return;
  std::erase_if(settled.profiles, [&](const JvmProfile& profile) {
    if (profile.methods != 0 || profile.runs || !profile.unreadable.empty()) return false;
    settled.notes.push_back(NameOf(profile) + " is left out: no method of it was recorded");
    RemoveProfile(profile.path);
    return true;
  });
}

// Adds a note for each process of `running` that has no profile. Returns whether it added any.
bool NoteUnbegun(SettledProfiles& settled, const fs::path& place,
                 const std::vector<uint32_t>& running) {
  const size_t before = settled.notes.size();
  for (const uint32_t pid : running) {
    if (std::ranges::count(settled.profiles, pid, &JvmProfile::pid) != 0) continue;
    settled.notes.push_back(fmt::format(
        "{} (PID {}) still runs: its profile will be in {} once it calls a function with hooks",
        options::ProfileName(procfs::CommandLine(pid)), pid, DisplayPath(place)));
  }
  return settled.notes.size() != before;
}

// Moves the profile to `place`. Fails without a change if `place` contains anything else.
bool MoveTo(const fs::path& place, const fs::path& profile) {
  const fs::path aside = fmt::format("{}.only-{}", place.string(), getpid());
  if (rename(profile.c_str(), aside.c_str()) != 0) return false;
  if (rmdir(place.c_str()) == 0 && rename(aside.c_str(), place.c_str()) == 0) return true;
  std::error_code ignored;
  fs::create_directory(place, ignored);
  (void)rename(aside.c_str(), profile.c_str());
  return false;
}

}  // namespace

std::vector<JvmProfile> JvmProfilesAt(const fs::path& place) {
  std::error_code ignored;
  return JvmProfilesAt(place, ignored);
}

std::vector<JvmProfile> JvmProfilesAt(const fs::path& place, std::error_code& failed) {
  std::vector<JvmProfile> profiles;
  for (const fs::path& path : ProfilesAt(place, failed)) profiles.push_back(Describe(path));
  std::ranges::stable_sort(profiles, std::greater(), [](const JvmProfile& profile) {
    return std::tuple(profile.methods != 0, profile.cpu_nanos, profile.size);
  });
  return profiles;
}

std::vector<uint32_t> RunningWithHooks(const std::pair<std::string, std::string>& variable,
                                       const std::string& proc) {
  std::vector<uint32_t> running = procfs::Processes(proc);
  std::erase_if(running, [&](uint32_t pid) {
    return procfs::EnvironmentAtStart(pid, variable.first, proc) != variable.second ||
           !procfs::Runs(pid, proc) || !a2n::HooksOf(procfs::Directory(pid, proc) + "/exe").Any();
  });
  return running;
}

SettledProfiles SettleProfiles(const fs::path& place, const std::vector<uint32_t>& running) {
  std::error_code failed;
  SettledProfiles settled = {.profiles = JvmProfilesAt(place, failed), .notes = {}};
  if (failed)
    settled.notes.push_back(
        fmt::format("{}: cannot be listed: {}", place.string(), failed.message()));
  for (const JvmProfile& profile : settled.profiles)
    if (!profile.unreadable.empty()) settled.notes.push_back(profile.unreadable);
  LeaveOutEmpty(settled);
  if (NoteUnbegun(settled, place, running) || settled.profiles.size() != 1) return settled;
  JvmProfile& only = settled.profiles.front();
  if (only.path != place && !only.runs && MoveTo(place, only.path)) only.path = place;
  return settled;
}

bool HasNotStarted(const JvmProfile& profile) {
  return profile.jvm && !profile.finished && !profile.runs && profile.methods == 0 &&
         profile.unreadable.empty();
}

std::string StillRunsText(const JvmProfile& profile) {
  if (!profile.runs) return "";
  return fmt::format("{} still runs: its profile {} is not finished and grows until it ends",
                     NameOf(profile), DisplayPath(profile.path));
}

}  // namespace jprof::record
