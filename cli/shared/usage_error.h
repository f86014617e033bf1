// Reports errors of the commands.
#pragma once

#include "common/result.h"
#include "record/run/print_error.h"

namespace jprof::cli {

using record::PrintError;
using record::PrintNext;

// Returns the exit status of a command that ends with this error.
inline int ExitCodeOf(const Error& error) { return error.kind == Error::Kind::kWrongUse ? 2 : 1; }

// Returns 0, or the error.
Result<int> StatusOf(const Result<void>& done);

// Prints an error, if there is one, and returns the exit status.
int ExitStatusOf(const Result<int>& outcome);

}  // namespace jprof::cli
