// Writes the methods over time into the data of the page, for its tab Heat map (docs/SERIES.md).
#pragma once

#include "model/tree/source.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Adds the header's member "series" and its sections if the profile has a series. The names of
// methods go to `names`. What cannot be read of it is noted as a loss.
void AddSeries(const model::Source& source, ViewNames& names, ViewData& data);

}  // namespace jprof::reports
