// Provides the page of the HTML view, built from the TypeScript in this folder and compiled in.
#pragma once

#include <string_view>
#include <utility>

namespace jprof::reports {

// Returns the parts of the page before and after the data.
std::pair<std::string_view, std::string_view> PageAroundData();

}  // namespace jprof::reports
