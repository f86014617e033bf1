// Reads the history of a program from the tables, within the caller's transaction.
#pragma once

#include <string>

#include "cpo/database/connection.h"
#include "cpo/database/records.h"

namespace jprof::cpo {

// Returns the fingerprint as text that is equal if and only if the parts are.
std::string TextOf(const MachineKey& machine);

// Returns the row of a program or machine, or 0 if there is none.
RowId FindProgram(Connection& connection, const ProgramKey& program);
RowId FindMachine(Connection& connection, const MachineKey& machine);
// The same, and inserts what there is not.
RowId EnterProgram(Connection& connection, const ProgramKey& program);
RowId EnterMachine(Connection& connection, const MachineKey& machine);

// Returns the history. An error is kept by the connection.
History ReadHistory(Connection& connection, RowId program, RowId machine);

}  // namespace jprof::cpo
