// Writes a page of HTML to the file that the user chose, or to a temporary one, and opens it.
#pragma once

#include <functional>
#include <string>

#include "cli/shared/command_line.h"
#include "common/result.h"
#include "reports/print/output.h"

namespace jprof::cli {

// Says where the user wants the page.
struct PageChoice {
  std::string out;  // a file, - for standard output; if empty, a temporary file
  bool no_open = false;
};

// Declares -o and --no-open. If the command has other actions, `action` names that with a page.
void AddPageOptions(CommandLine& line, PageChoice& choice, const std::string& action = "");

// Prints a page to the file `out`, or to standard output if it is "-". If it fails, nothing is left
// of the file. Fails with kWrongUse if standard output is a terminal.
Result<void> WritePage(const std::string& out,
                       const std::function<Result<void>(reports::Output&)>& print);

// Calls `write` with the path that was chosen, or with one that ends with `name` in a new temporary
// directory that only this user can read. Prints where the page is, and opens it in the browser
// unless the user named a file or asked for it not to be opened.
Result<void> ShowPage(const PageChoice& choice, const std::string& name,
                      const std::function<Result<void>(const std::string& out)>& write);

}  // namespace jprof::cli
