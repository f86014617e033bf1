#include "jprof/agent/objects/live_records.h"

#include <cmath>

#include "profile/files/object_metrics.h"

namespace jprof::agent {

profile::LiveRecord* LiveRecords::Make(uint32_t node, uint64_t objects, uint64_t bytes) {
  profile::LiveRecord* const record = is_full_ ? nullptr : writer_.AllocateLive();
  is_full_ = record == nullptr;
  if (is_full_) return nullptr;
  *record = {.node = node,
             .objects = static_cast<uint32_t>(objects),
             .first = snapshot_,
             .last = snapshot_,
             .bytes = bytes};
  return record;
}

void LiveRecords::Begin(uint64_t ns) {
  ++snapshot_;
  Make(0, 0, ns);
}

void LiveRecords::Add(LiveObject& object) {
  if (object.record == nullptr) object.record = Make(object.node, 1, object.bytes);
  if (object.record != nullptr) object.record->last = snapshot_;
}

void LiveRecords::Add(uint32_t node, const LiveSum& sum) {
  const auto objects = static_cast<uint64_t>(sum.objects), bytes = static_cast<uint64_t>(sum.bytes);
  profile::LiveRecord*& last = last_[node];
  const bool is_same = last != nullptr && last->last + 1 == snapshot_ && last->objects == objects &&
                       last->bytes == bytes;
  if (!is_same) last = Make(node, objects, bytes);
  if (last != nullptr) last->last = snapshot_;
}

void LiveRecords::End(const std::vector<LiveSum>& sums) {
  if (is_full_) return;
  constexpr size_t kFirst = profile::kAllocated - 1;  // the first metric is in the node itself
  const size_t extras = writer_.metric_count() - 1;
  for (size_t node = 1; node < sums.size(); ++node) {
    int64_t* const values = writer_.extra() + node * extras + kFirst;
    values[0] = std::llround(sums[node].bytes);
    values[1] = std::llround(sums[node].objects);
  }
  writer_.header()->live_snapshots = snapshot_;
}

}  // namespace jprof::agent
