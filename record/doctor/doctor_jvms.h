// Finds the JVMs of this machine and tries the agent in each.
#pragma once

#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "profile/files/meta.h"
#include "record/doctor/doctor_check.h"

namespace jprof::record {

struct FoundJvm {
  std::filesystem::path java;
  std::string origin;  // "JAVA_HOME", "PATH", or the folder that it was found in
};

// The places where JVMs are looked for.
struct JvmPlaces {
  std::string java_home, path;                 // the variables
  std::vector<std::filesystem::path> folders;  // folders that contain one JVM per entry
};
JvmPlaces UsualJvmPlaces();

// Finds the JVMs in the order of the places, and each once, whatever links lead to it.
std::vector<FoundJvm> FindJvms(const JvmPlaces& places);

struct TestedJvm {
  FoundJvm found;
  std::string why_no_profile;  // why no profile was made; "" if one was
  profile::Meta meta;          // of that profile
  std::string why_no_focus;    // why code cannot be compiled by focus, or with intrinsics
  std::string why_no_objects;  // why allocated objects cannot be counted
  std::string table_made;      // when the calibration table that fits was made; "" if none fits
  std::string why_no_table;    // why no table fits

  int Major() const;  // 17, or 0 if unknown
  bool Works() const { return why_no_profile.empty(); }
  bool HasProbe() const { return Works() && meta.probe.is(ProbeKind::kHotspot); }
};

// Profiles `java -version` in an empty folder below `work`. Takes a fraction of a
// second, at most 20 s.
TestedJvm TestJvm(const FoundJvm& found, const std::filesystem::path& agent,
                  const std::filesystem::path& work);

// Checks the JVM itself and its calibration table, whose age depends on `now`. Pure.
DoctorChecks CheckJvm(const TestedJvm& jvm, std::time_t now);

// Returns "3 days ago", or "" if `made` is not a text of common/utc_text.h.
std::string AgeText(const std::string& made, std::time_t now);

}  // namespace jprof::record
