// What a self-contained HTML page of a report begins and ends with: style for light and dark, a
// table that sorts by a click on its heading, a tree whose rows fold. It loads nothing from
// anywhere, and reads well without its script.
#pragma once

#include <string>
#include <string_view>

#include "reports/output.h"

namespace jprof::reports {

// For text and for attribute values in double quotes.
std::string EscapedHtml(std::string_view text);

void BeginPage(std::string_view title, Output& out);
void EndPage(Output& out);

}  // namespace jprof::reports
