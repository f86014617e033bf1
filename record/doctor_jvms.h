// Finds the JVMs of this machine and tries the agent in each.
#pragma once

#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "profile/meta.h"
#include "record/doctor_check.h"

namespace jprof::record {

struct FoundJvm {
  std::filesystem::path java;
  std::string origin;  // "JAVA_HOME", "PATH", or the folder that it was found in
};

// Where JVMs are looked for.
struct JvmPlaces {
  std::string java_home, path;                 // the variables
  std::vector<std::filesystem::path> folders;  // that contain one JVM per entry
};
JvmPlaces UsualJvmPlaces();

// In the order of the places; each JVM once, whatever links lead to it.
std::vector<FoundJvm> FindJvms(const JvmPlaces& places);

struct TestedJvm {
  FoundJvm found;
  std::string lack;        // why no profile was made; "": one was
  profile::Meta meta;      // of that profile
  std::string focus_lack;  // why code cannot be compiled by focus, or with intrinsics
  std::string table_made;  // when the calibration table that fits was made; "": none fits
  std::string table_lack;  // why none fits

  int Major() const;  // 17; 0: not known
  bool Works() const { return lack.empty(); }
  bool HasProbe() const { return Works() && meta.probe.kind == "hotspot"; }
};

// Profiles `java -version` in an empty folder below `work`. Takes a fraction of a second, 20 s at
// most.
TestedJvm TestJvm(const FoundJvm& found, const std::filesystem::path& agent,
                  const std::filesystem::path& work);

// The JVM itself and its calibration table. `now`: for the table's age. Pure.
DoctorChecks CheckJvm(const TestedJvm& jvm, std::time_t now);

// "3 days ago"; "" if `made` is not a text of common/utc_text.h.
std::string AgeText(const std::string& made, std::time_t now);

}  // namespace jprof::record
