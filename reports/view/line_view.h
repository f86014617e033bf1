// Adds source lines to the page of a profile.
#pragma once

#include <nlohmann/json.hpp>

#include "model/lines/load_lines.h"
#include "reports/lines/source_files.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Returns what docs/VIEW.md describes as "lines": those with a thousandth of the whole or of all
// calls, as far as a page can hold them, with the text of their source.
nlohmann::json DescribeLines(const model::Lines& lines, SourceFiles& sources, ViewNames& names);

// Adds the member "lines" if the profile, or a run of the combined one, was recorded with lines.
void AddLines(model::Source& source, ViewNames& names, ViewData& data);
void AddLines(model::Combined& combined, ViewNames& names, ViewData& data);

}  // namespace jprof::reports
