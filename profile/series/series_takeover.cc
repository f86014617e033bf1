#include <sched.h>

#include <algorithm>
#include <unordered_set>

#include "profile/series/series_encoder.h"

namespace jprof::profile {
namespace {

// How often records are looked at until their counts have moved: for about 0.1 ms.
constexpr size_t kMostLooks = 20'000, kMostYields = 200;

// Adds two pairs of 32-bit counts.
uint64_t AddHalves(uint64_t a, uint64_t b) {
  return (((a >> 32) + (b >> 32)) << 32) | static_cast<uint32_t>(a + b);
}

}  // namespace

// Returns whether the node no longer has what it has moved to the record.
bool SeriesEncoder::HasMoved(const Takeover& takeover) const {
  const SeenNode node = Load(takeover.node), record = Load(takeover.record);
  if ((record.entries | record.exits) == 0 && record.self == 0) return false;  // being copied
  bool none = true, all = true;
  const auto compare = [&none, &all](auto here, auto there) {
    none &= here == 0;
    all &= here == there || here == 0;
  };
  for (const int shift : {0, 32}) {
    compare(static_cast<uint32_t>(node.entries >> shift),
            static_cast<uint32_t>(record.entries >> shift));
    compare(static_cast<uint32_t>(node.exits >> shift),
            static_cast<uint32_t>(record.exits >> shift));
  }
  compare(node.self, record.self);
  compare(node.dispatches, record.dispatches);
  return none || !all;
}

// Waits until all records have what their nodes have moved to them, but not for long. moving_ are
// those that do not have it then.
void SeriesEncoder::WaitForMoves() {
  moving_.clear();
  std::vector<Takeover> moving = takeovers_;
  const auto has_moved = [this](const Takeover& takeover) { return HasMoved(takeover); };
  std::erase_if(moving, has_moved);
  const size_t yields = std::min(kMostYields, kMostLooks / std::max<size_t>(moving.size(), 1));
  for (size_t i = 0; i < yields && !moving.empty(); ++i) {
    sched_yield();
    std::erase_if(moving, has_moved);
  }
  for (const Takeover& takeover : moving) moving_.insert(takeover.record);
}

bool SeriesEncoder::HasTaken(uint32_t record) {
  const KeptNode* const kept = PlaceOf(record).node;
  return kept == nullptr || kept->state == KeptNode::State::kTaken;
}

// Returns whether the record has all that its node has moved to it. If that takes too long, the
// record is left to the next snapshot, once.
bool SeriesEncoder::IsComplete(const Takeover& takeover) {
  if (!moving_.contains(takeover.record)) return true;
  KeptNode* const kept = PlaceOf(takeover.record).node;
  if (kept == nullptr || kept->state == KeptNode::State::kPostponed) return true;
  kept->state = KeptNode::State::kPostponed;
  return false;
}

void SeriesEncoder::TakeOverAll(bool last) {
  // What is known of a node: its values, which are newer than all its records if `is_newer`, and
  // the place of its last record.
  struct Owner {
    Observed node;
    bool is_newer = true;
    size_t last = 0;
  };
  std::ranges::sort(takeovers_, {}, &Takeover::record);
  const auto same = std::ranges::unique(takeovers_, {}, &Takeover::record);
  takeovers_.erase(same.begin(), same.end());  // a page may be compared twice
  if (!last) WaitForMoves();
  std::unordered_map<uint32_t, Owner> owners;
  owners.reserve(takeovers_.size());
  for (const Takeover& takeover : takeovers_) {
    if (!last && !IsComplete(takeover)) continue;
    auto [owner, is_new] = owners.try_emplace(takeover.node);
    if (is_new) owner->second.node = ObservedOf(takeover.node);
    owner->second.is_newer &= last || Exceeds(owner->second.node.values, Load(takeover.record));
    owner->second.last = done_.size();
    done_.push_back(takeover);
  }
  for (size_t i = 0; i < done_.size(); ++i) {
    const Owner& owner = owners[done_[i].node];
    TakeOver(done_[i], owner.last == i && owner.is_newer ? owner.node : Observed());
  }
}

// Returns what was read of a node when its page was compared.
SeriesEncoder::Observed SeriesEncoder::ObservedOf(uint32_t index) {
  if (const auto found = held_.find(index); found != held_.end()) return found->second;
  Observed observed;
  if (const KeptNodes::Place place = PlaceOf(index); place.node != nullptr) {
    observed.values = *place.node;
    std::copy_n(place.extra, now_.extras, observed.extra.begin());
  } else {
    observed.values = KeptOf(Load(index), KeptNode::State::kLive);
    LoadExtra(index, observed.extra.data());
  }
  return observed;
}

// Returns whether values of a node cannot be part of what the record has: they are newer than it.
bool SeriesEncoder::Exceeds(const KeptNode& values, const SeenNode& record) {
  const auto exceeds = [](uint64_t a, uint64_t b) {
    return static_cast<uint32_t>(a) > static_cast<uint32_t>(b) || a >> 32 > b >> 32;
  };
  return exceeds(values.entries, record.entries) || exceeds(values.exits, record.exits);
}

// Records that the record has what its node had, and that the node has `then`, which was read when
// its page was compared and is newer than the record, or nothing.
void SeriesEncoder::TakeOver(const Takeover& takeover, const Observed& then) {
  const KeptNodes::Place record_place = PlaceOf(takeover.record);
  const KeptNodes::Place node_place = PlaceOf(takeover.node);
  Observed before;  // the record continues what was recorded of the two
  if (record_place.node != nullptr) {
    before.values = *record_place.node;
    std::copy_n(record_place.extra, now_.extras, before.extra.begin());
  }
  if (const KeptNode* const node = node_place.node; node != nullptr) {
    before.values.entries = AddHalves(before.values.entries, node->entries);
    before.values.exits = AddHalves(before.values.exits, node->exits);
    before.values.self = Wrapping(before.values.self, Wrapping(0, node->self));
    before.values.dispatches += node->dispatches;
    for (uint32_t m = 0; m < now_.extras; ++m)
      before.extra[m] = Wrapping(before.extra[m], Wrapping(0, node_place.extra[m]));
  }
  Observed record = {.values = KeptOf(Load(takeover.record), KeptNode::State::kTaken)};
  LoadExtra(takeover.record, record.extra.data());
  const auto keep = [this](const KeptNodes::Place& place, const Observed& values) {
    if (place.node == nullptr) return;
    *place.node = values.values;
    std::copy_n(values.extra.begin(), now_.extras, place.extra);
  };
  AppendGain(before, record);
  keep(record_place, record);
  AppendGain(Observed(), then);
  keep(node_place, then);
  if (node_place.hash != nullptr) *node_place.hash = 0;
}

}  // namespace jprof::profile
