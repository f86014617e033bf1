#include "jprof/weave/calls_before.h"

#include <algorithm>

#include "jprof/weave/instructions.h"

namespace jprof::weave {

bool CallsBefore::Find(const CodeAttribute& code, bool allocations, std::optional<uint16_t> own,
                       uint32_t first_local) {
  calls_.Truncate(0);
  points_.clear();
  allocations_.Begin(first_local);
  if (!allocations && !own) return true;
  if (own) call_sites_.Begin(code, *own);
  for (uint32_t at = 0; at < code.code.size();) {
    const uint32_t length = InstructionLength(code.code, at);
    if (length == 0) break;
    const size_t begin = calls_.size();
    if (allocations && !allocations_.Add(code.code, at)) return false;
    if (own && !call_sites_.Add(code.code, at)) return false;
    if (calls_.size() > begin) points_.push_back({at, begin, calls_.size()});
    at += length;
  }
  return true;
}

std::string_view CallsBefore::At(uint32_t at) const {
  const auto point = std::ranges::lower_bound(points_, at, {}, &Point::at);
  if (point == points_.end() || point->at != at) return {};
  return calls_.view().substr(point->begin, point->end - point->begin);
}

}  // namespace jprof::weave
