// Prints the beginning and the end of a self-contained HTML page of a report: style for light and
// dark, a table that sorts by a click on its heading, a tree whose rows fold. The page loads
// nothing from anywhere, and reads well without its script.
#pragma once

#include <string>
#include <string_view>

#include "reports/print/output.h"

namespace jprof::reports {

// Escapes text for HTML, also for attribute values in double quotes.
std::string EscapedHtml(std::string_view text);

void BeginPage(std::string_view title, Output& out);
void EndPage(Output& out);

}  // namespace jprof::reports
