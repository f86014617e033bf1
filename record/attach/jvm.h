// Finds the JVMs that run on this machine, as the proc file system describes them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/procfs.h"

namespace jprof::record {

// Returns the root directory of a process as seen from this process, or an empty text if it cannot
// be read.
std::string RootOf(uint32_t pid);

// The parts of a JVM in the memory map of a process. Paths are those that the process itself uses,
// and are empty if not mapped.
struct JvmMappings {
  std::string libjvm;
  bool openj9 = false;                  // the JVM is not HotSpot
  std::vector<procfs::Mapping> agents;  // the beginning of each copy of libjprof.so
  std::string musl;                     // the path of the C library, if that is musl
};
// Finds them in `maps`, whose paths begin with `root`, the process's root directory.
JvmMappings FindMappings(const std::vector<procfs::Mapping>& maps, std::string_view root = "/");

// Returns whether a process has mapped a JVM; false also if its memory map cannot be read.
bool IsJvm(uint32_t pid);

struct Jvm {
  uint32_t pid = 0;
  uid_t user = 0;
  std::string version;  // of the JDK; empty if unknown
  procfs::Times times;
  std::vector<std::string> command;
  bool has_agent = false;
};

// Returns the JVMs of this user, for root those of all users, with ascending pids.
std::vector<Jvm> RunningJvms();

// Returns JAVA_VERSION in the text of a JDK's file `release`, or an empty text if it has none.
std::string VersionOf(std::string_view release);

}  // namespace jprof::record
