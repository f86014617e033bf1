// The tables of the database and how older ones become today's. The version is SQLite's
// user_version; a change of the tables is one more step in schema.cc.
#pragma once

#include "common/result.h"
#include "cpo/database/connection.h"

namespace jprof::cpo {

inline constexpr int kSchemaVersion = 2;

// Makes the tables, or migrates older ones, in one transaction. Fails if the file is of a newer
// jprof, of another program, or damaged.
Result<void> PrepareSchema(Connection& connection);

// Checks the same of a file that is only read. Returns false if it has no tables yet, because its
// first step was interrupted. Fails also if it is older.
Result<bool> CheckSchema(Connection& connection);

// Fails if the file is damaged, or rows contradict each other.
Result<void> CheckConsistency(Connection& connection);

}  // namespace jprof::cpo
