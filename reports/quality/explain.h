// Prints what `jprof info --quality` reports: every fact, what it means and what to do about it.
#pragma once

#include <string_view>

#include "reports/print/output.h"
#include "reports/quality/quality.h"

namespace jprof::reports {

// Prints lines of at most `width` cells; 0 for any.
void ExplainText(std::string_view directory, const Quality& quality, size_t width, Output& out);

// Prints one object. The facts also have the members "detail", "means" and "advice".
void ExplainJson(std::string_view directory, const Quality& quality, Output& out);

}  // namespace jprof::reports
