// Counting with a group of events for a whole target, without telling its threads apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "ptm/event_group.h"

namespace jprof::record {

// Opens and starts the group. Returns false if the target has ended. Wrong use: an event cannot be
// counted; the error names it and says why.
Result<bool> OpenGroup(ptm::EventGroup& group, const std::vector<ptm::EventSpec>& events,
                       const ptm::Target& target);

// Why an event that was opened has no count.
std::string NotAllTheTime(std::string_view event);

}  // namespace jprof::record
