// Prints the page of `jprof` without arguments: where to start.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace jprof::cli {

struct StartFacts {
  size_t tables = 0;    // calibration tables of this user
  std::string profile;  // the newest profile in the working directory; "" if there is none
};

// Returns the groups with their commands, in the order of the help:
// "Read results   report, combine, info".
std::vector<std::string> GroupLines(const CLI::App& app);

// Returns the whole text. Pure.
std::string StartPage(const CLI::App& app, const StartFacts& facts);

// Prints the page for this user and the working directory.
void PrintStartPage(const CLI::App& app);

}  // namespace jprof::cli
