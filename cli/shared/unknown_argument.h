// Explains command lines that cannot be parsed.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace jprof::cli {

// Prints help or version if requested and returns 0. Else prints one line with the error and the
// nearest valid choice, and returns 2.
int ReportParseError(const CLI::App& app, const CLI::ParseError& error);

// Returns the message about an argument that is neither an option nor a subcommand of `app`.
std::string UnknownArgument(const CLI::App& app, std::string_view argument);

}  // namespace jprof::cli
