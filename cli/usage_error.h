// What the command says when its arguments cannot be understood.
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

// Prints help or version where that was asked for (answer: 0), else one line that names what is
// wrong and the nearest valid choice (answer: 2).
int ReportParseError(const CLI::App& app, const CLI::ParseError& error);

// The line for one word that is neither an option nor a subcommand of `app`.
std::string UnknownWord(const CLI::App& app, std::string_view word);

}  // namespace jprof::cli
