// Makes the data of the page of `jprof optimize view`.
#pragma once

#include <string_view>

#include "reports/view/view_data.h"

namespace jprof::reports {

// Returns the data of a page about the programs of `json`, a document of `jprof optimize explain
// --format json` (docs/OPTIMISE.md). Copies it as it is.
ViewData ViewOfOptimize(std::string_view title, std::string_view json);

}  // namespace jprof::reports
