// Counts a group of events for a whole target, without distinguishing its threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "ptm/event_group.h"

namespace jprof::record {

// Opens and starts the group. Returns false if the target has ended. Fails with kWrongUse if an
// event cannot be counted; the message has its name and the reason.
Result<bool> OpenGroup(ptm::EventGroup& group, const std::vector<ptm::EventSpec>& events,
                       const ptm::Target& target);

// Returns the message about an opened event that was not counted during the whole interval.
std::string NotCountedText(std::string_view event);

}  // namespace jprof::record
