// Adds how long single calls took to the page of a profile.
#pragma once

#include <nlohmann/json.hpp>

#include "model/tree/forest.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Adds the member "distributions" of docs/VIEW.md, if the profile has any: by method, and by row of
// the forest, as many rows as a page can hold. `names` has the methods' names of the page.
void AddDistributions(model::Forest& forest, ViewNames& names, ViewData& data);

}  // namespace jprof::reports
