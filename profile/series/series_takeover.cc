#include <sched.h>

#include <algorithm>
#include <unordered_set>

#include "profile/series/series_encoder.h"

namespace jprof::profile {
namespace {

constexpr int kWaits = 200;  // until the counts of a superseded record have moved

}  // namespace

// Returns whether the node no longer has what it has moved to the record.
bool SeriesEncoder::HasMoved(const Takeover& takeover, const Node& record) const {
  const Node node = Load(takeover.node);
  if (record.entries[0] + record.entries[1] + record.exits[0] + record.exits[1] == 0 &&
      record.self == 0)
    return false;  // they are being copied
  bool none = true, all = true;
  const auto compare = [&none, &all](auto here, auto there) {
    none &= here == 0;
    all &= here == there || here == 0;
  };
  for (const size_t k : {0, 1}) {
    compare(node.entries[k], record.entries[k]);
    compare(node.exits[k], record.exits[k]);
  }
  compare(node.self, record.self);
  compare(node.dispatches, record.dispatches);
  return none || !all;
}

// Returns whether the record has all that its node has moved to it. If that takes too long, the
// record is left to the next snapshot, once.
bool SeriesEncoder::IsComplete(const Takeover& takeover) {
  for (int i = 0; i < kWaits; ++i) {
    if (i != 0) sched_yield();
    if (HasMoved(takeover, Load(takeover.record))) return true;
  }
  Piece* const piece = PieceOf(takeover.record);
  if (piece == nullptr) return true;
  Kept& kept = piece->nodes[takeover.record % kPiece];
  if (kept.state == Kept::State::kPostponed) return true;
  kept.state = Kept::State::kPostponed;
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
  std::unordered_map<uint32_t, Owner> owners;
  std::unordered_set<uint32_t> seen;  // a page may be compared twice
  std::ranges::sort(takeovers_, {}, &Takeover::record);
  for (const Takeover& takeover : takeovers_) {
    if (!seen.insert(takeover.record).second || (!last && !IsComplete(takeover))) continue;
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
  if (Piece* const piece = PieceOf(index)) {
    observed.values = piece->nodes[index % kPiece];
    std::copy_n(ExtraOf(*piece, index), now_.extras, observed.extra.begin());
  } else {
    observed.values = KeptOf(Load(index), Kept::State::kLive);
    LoadExtra(index, observed.extra.data());
  }
  return observed;
}

// Returns whether values of a node cannot be part of what the record has: they are newer than it.
bool SeriesEncoder::Exceeds(const Kept& values, const Node& record) {
  bool exceeds = false;
  for (const int k : {0, 1})
    exceeds |= values.entries[k] > record.entries[k] || values.exits[k] > record.exits[k];
  return exceeds;
}

// Records that the record has what its node had, and that the node has `then`, which was read when
// its page was compared and is newer than the record, or nothing.
void SeriesEncoder::TakeOver(const Takeover& takeover, const Observed& then) {
  Piece* const of_record = PieceOf(takeover.record);
  Piece* const of_node = PieceOf(takeover.node);
  Kept* const kept = of_record != nullptr ? &of_record->nodes[takeover.record % kPiece] : nullptr;
  Kept* const node_kept = of_node != nullptr ? &of_node->nodes[takeover.node % kPiece] : nullptr;
  Observed before;  // the record continues what was recorded of the two
  if (kept != nullptr) {
    before.values = *kept;
    std::copy_n(ExtraOf(*of_record, takeover.record), now_.extras, before.extra.begin());
  }
  if (node_kept != nullptr) {
    for (const int k : {0, 1}) {
      before.values.entries[k] += node_kept->entries[k];
      before.values.exits[k] += node_kept->exits[k];
    }
    before.values.self = Wrapping(before.values.self, Wrapping(0, node_kept->self));
    before.values.dispatches += node_kept->dispatches;
    const int64_t* const values = ExtraOf(*of_node, takeover.node);
    for (uint32_t m = 0; m < now_.extras; ++m)
      before.extra[m] = Wrapping(before.extra[m], Wrapping(0, values[m]));
  }
  Observed record = {.values = KeptOf(Load(takeover.record), Kept::State::kTaken)};
  LoadExtra(takeover.record, record.extra.data());
  Encode(before.values, before.extra.data(), record.values, record.extra.data(), false);
  if (kept != nullptr) {
    *kept = record.values;
    std::copy_n(record.extra.begin(), now_.extras, ExtraOf(*of_record, takeover.record));
  }
  static const Observed kNothing;
  Encode(kNothing.values, kNothing.extra.data(), then.values, then.extra.data(), false);
  if (node_kept == nullptr) return;
  *node_kept = then.values;
  std::copy_n(then.extra.begin(), now_.extras, ExtraOf(*of_node, takeover.node));
  of_node->hashes[takeover.node % kPiece / kPage] = 0;
}

}  // namespace jprof::profile
