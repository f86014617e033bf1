// The tables of a fleet in a database: made, brought up to date, and checked.
#pragma once

#include <span>
#include <string>

#include "common/result.h"
#include "fleet/server/server.h"

namespace jprof::fleet {

// Returns the texts of fleet/schema/*.sql: element i makes version i + 1 of version i.
std::span<const char* const> SchemaFiles();

struct InitOutcome {
  uint32_t before = 0;  // version of the tables; 0 if there were none
  uint32_t now = 0;
};

// Makes the database and its tables on one server, or brings them up to date. It may be repeated.
// With a cluster, a name from the configuration of the server, the tables of this server hold one
// shard, and further tables stand for all shards. Fails if the tables are of a later version of
// jprof, or of another cluster.
Result<InitOutcome> Init(Server& server, const std::string& cluster);

// Fails if the database has no tables, or those of a later version.
Result<void> CheckSchema(Server& server);

// Removes from this server what was recorded more than `days` days ago. Returns how many days were
// removed.
Result<uint64_t> RemoveOld(Server& server, uint64_t days);

}  // namespace jprof::fleet
