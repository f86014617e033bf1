// Writes when threads ran, and why they did not, into the data of the page, for its tab Timeline
// (docs/VIEW.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "model/events/recorded_events.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Adds a column of whole numbers as planes of bytes: first the lowest byte of each, then the next
// one, as many as the largest needs. Few bytes of a plane differ, so planes compress well.
nlohmann::json AddPlanes(const std::vector<uint64_t>& values, ViewData& data);

// Adds the header's member "stretches" and its sections. The names of methods go to `names`. A page
// holds a limited number of stretches: of a longer recording only its begin, which is noted.
void AddStretches(model::RecordedEvents& events, ViewNames& names, ViewData& data);

}  // namespace jprof::reports
