// `jprof push clickhouse://...`: sends profiles to the database of a fleet.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "fleet/push/spool.h"
#include "fleet/server/server.h"

namespace jprof::cli {

struct FleetPush {
  std::string url;
  std::vector<std::string> profiles;
  fleet::RunNames names;
  std::string spool;  // the folder of what could not be sent; empty: the default
  uint64_t spool_limit = fleet::kSpoolLimit;
  bool spooled = false;                        // send what is there, without profiles
  long silence_seconds = fleet::kPushSeconds;  // that the server may be silent
};

// Sends the profiles, each of several JVMs and each run of a combined profile as a run of its own,
// after what is in the spool. Fails if the URL is wrong or a profile cannot be read. What cannot be
// sent is kept in the spool: then it fails, too, and says so. A server that is silent is given up:
// the rest is kept without asking it again.
Result<void> PushToFleet(const FleetPush& push);

}  // namespace jprof::cli
