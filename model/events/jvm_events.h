// Loads what a JVM recorded of its threads' waits and of its collections (events/jvm of a profile).
// Times are ns since the recording of the kernel's events began.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jprof::model {

struct JvmWait {
  enum class Kind : uint8_t { kContended, kWaits, kParks };
  Kind kind = Kind::kParks;
  int64_t begin = 0, end = 0;
  std::string class_name;  // of the monitor or the blocker; empty if it is not known
  uint32_t owner = 0;      // the kernel's id of the thread that has the monitor; 0: not known
};

struct JvmCollection {
  int64_t begin = 0, end = 0;
  std::string cause;
};

struct JvmEvents {
  std::map<uint32_t, std::vector<JvmWait>> waits;  // by the kernel's id of the thread, in order
  std::vector<JvmCollection> collections;          // in order
  std::vector<std::string> damages;

  // Returns what a thread waits for at a time, or null.
  const JvmWait* WaitAt(uint32_t thread, int64_t time) const;
  const JvmCollection* CollectionAt(int64_t time) const;
};

// Loads the events of the profile in a directory, which has none if they were not recorded.
// `start_unix_ns` is when the recording of the kernel's events began.
JvmEvents LoadJvmEvents(const std::string& directory, uint64_t start_unix_ns);

}  // namespace jprof::model
