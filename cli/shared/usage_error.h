// Reports errors of the command, in particular usage errors.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "record/run/print_error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace jprof::cli {

using record::PrintError;

// Returns the exit status of a command that ends with this error.
inline int ExitCodeOf(const Error& error) { return error.kind == Error::Kind::kWrongUse ? 2 : 1; }

// Returns 0, or the error.
Result<int> StatusOf(const Result<void>& done);

// Prints an error, if there is one, and returns the exit status.
int ExitStatusOf(const Result<int>& outcome);

// Prints help or version if requested and returns 0. Else prints one line with the error and the
// nearest valid choice, and returns 2.
int ReportParseError(const CLI::App& app, const CLI::ParseError& error);

// Returns the message about an argument that is neither an option nor a subcommand of `app`.
std::string UnknownArgument(const CLI::App& app, std::string_view argument);

}  // namespace jprof::cli
