// How the command reports errors, above all those in its arguments.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "common/result.h"
#include "record/print_error.h"

namespace jprof::cli {

using record::PrintError;

// The exit status of a command that ends with this error.
inline int ExitCodeOf(const Error& error) { return error.kind == Error::Kind::kWrongUse ? 2 : 1; }

// 0, or the error.
Result<int> StatusOf(const Result<void>& done);

// Prints an error, if there is one, and returns the exit status.
int ExitStatusOf(const Result<int>& outcome);

// Prints help or version if that was asked for and returns 0; else prints one line that names the
// error and the nearest valid choice, and returns 2.
int ReportParseError(const CLI::App& app, const CLI::ParseError& error);

// The message about a word that is neither an option nor a subcommand of `app`.
std::string UnknownWord(const CLI::App& app, std::string_view word);

}  // namespace jprof::cli
