// Writes when each call was into the data of the page, for its tab Time (docs/VIEW.md).
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "model/timeline/timeline.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Gives the names of slices their numbers in the page. Looks up each text once.
class SliceNames {
 public:
  explicit SliceNames(ViewNames& names) : names_(names) {}

  uint32_t Of(const model::SliceBegin& slice) {
    const auto [place, is_new] = places_.try_emplace(slice.name);
    if (is_new) place->second = names_.Of(slice.text);
    return place->second;
  }

 private:
  ViewNames& names_;
  std::unordered_map<uint32_t, uint32_t> places_;  // by the timeline's number
};

// Returns the name of a thread's track, as the page shows that thread elsewhere.
using TrackText = std::function<std::string(const model::Track& track)>;

// Adds the header's member "timeline" and its sections, and the notes of the timeline. The names of
// calls and marks go to `names`. A page holds the longest calls and a limited number of marks and
// values of counters; it states how many calls are left out, and a note states how many marks.
// Calls `on_event`, unless it is empty, for each event. Fails if the timeline cannot be visited.
Result<void> AddTimeline(model::Timeline& timeline, const TrackText& text, ViewNames& names,
                         ViewData& data,
                         const std::function<void(const model::TimelineEvent&)>& on_event = {});

}  // namespace jprof::reports
