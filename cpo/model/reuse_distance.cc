#include "cpo/model/reuse_distance.h"

#include <algorithm>
#include <bit>

namespace jprof::cpo {

uint64_t ReuseDistances::Touch(uint64_t unit, uint32_t weight) {
  const auto fresh = static_cast<uint32_t>(unit_.size());
  const uint32_t id = ids_.FindOrAdd(unit, fresh);
  if (id == fresh) {
    unit_.push_back(unit);
    weight_.push_back(weight);
    last_.push_back(0);
    total_ += weight;
    Append(id);
    return kFirst;
  }
  const size_t last = last_[id];
  if (last == now_) return 0;
  const uint64_t distance = total_ - SumUpTo(last);
  Add(last, uint64_t{0} - weight_[id]);
  id_at_[last] = kNoId;
  Append(id);
  return distance;
}

uint64_t ReuseDistances::SumUpTo(size_t time) const {
  uint64_t sum = 0;
  for (; time > 0; time &= time - 1) sum += tree_[time];
  return sum;
}

void ReuseDistances::Add(size_t time, uint64_t weight) {
  for (; time < tree_.size(); time += time & (~time + 1)) tree_[time] += weight;
}

void ReuseDistances::Append(uint32_t id) {
  last_[id] = 0;  // Renumber skips it
  if (now_ + 1 >= tree_.size()) Renumber();
  last_[id] = ++now_;
  id_at_[now_] = id;
  Add(now_, weight_[id]);
}

// Closes the gaps between times. Half of them are then free, so that this costs each reference
// a constant.
void ReuseDistances::Renumber() {
  size_t used = 0;
  for (size_t time = 1; time < id_at_.size(); ++time) {
    const uint32_t id = id_at_[time];
    if (id == kNoId) continue;
    id_at_[++used] = id;
    last_[id] = used;
  }
  now_ = used;
  const size_t size = std::max<size_t>(1024, 2 * (used + 1));
  id_at_.resize(size, kNoId);
  std::fill(id_at_.begin() + used + 1, id_at_.end(), kNoId);
  tree_.assign(size, 0);
  for (size_t time = 1; time < size; ++time) {
    if (time <= used) tree_[time] += weight_[id_at_[time]];
    const size_t parent = time + (time & (~time + 1));
    if (parent < size) tree_[parent] += tree_[time];
  }
}

void ReuseDistances::Thin(const std::function<bool(uint64_t)>& keep, uint32_t weight) {
  ReuseDistances kept;
  for (const uint32_t id : id_at_) {
    if (id != kNoId && keep(unit_[id])) kept.Touch(unit_[id], weight);
  }
  *this = std::move(kept);
}

size_t DistanceHistogram::IndexOf(uint64_t distance) const {
  if (distance < exact_below_) return distance;
  const size_t extra = std::bit_width(distance) - std::bit_width(exact_below_);
  const size_t shift = std::bit_width(distance) - 9;  // keeps the highest bit and 8 more
  return exact_below_ + (extra << 8) + ((distance >> shift) & 255);
}

uint64_t DistanceHistogram::LeastOf(size_t index) const {
  if (index < exact_below_) return index;
  const size_t extra = (index - exact_below_) >> 8;
  const auto shift = std::bit_width(exact_below_) + extra - 9;
  return (256 + ((index - exact_below_) & 255)) << shift;
}

void DistanceHistogram::Add(uint64_t distance, uint64_t weight) {
  references_ += weight;
  if (distance == ReuseDistances::kFirst) {
    first_ += weight;
    return;
  }
  const size_t index = IndexOf(distance);
  if (index >= counts_.size()) counts_.resize(std::max(index + 1, counts_.size() * 3 / 2));
  counts_[index] += weight;
}

uint64_t DistanceHistogram::Misses(uint64_t size) const { return MissCurve({&size, 1}).front(); }

std::vector<uint64_t> DistanceHistogram::MissCurve(std::span<const uint64_t> sizes) const {
  std::vector<uint64_t> misses;
  uint64_t hits = 0;
  size_t index = 0;
  for (const uint64_t size : sizes) {
    for (; index < counts_.size() && LeastOf(index) < size; ++index) hits += counts_[index];
    misses.push_back(references_ - hits);
  }
  return misses;
}

void DistanceHistogram::ForEach(const std::function<void(uint64_t, uint64_t)>& visit) const {
  for (size_t index = 0; index < counts_.size(); ++index) {
    if (counts_[index] != 0) visit(LeastOf(index), counts_[index]);
  }
}

void PageReuse::Touch(uint64_t address) {
  for (size_t size = 0; size < kShifts.size(); ++size) {
    histograms_[size].Add(distances_[size].Touch(address >> kShifts[size]));
  }
}

const DistanceHistogram& PageReuse::Of(int shift) const {
  return histograms_[shift == kSmallShift ? 0 : shift == kMiddleShift ? 1 : 2];
}

}  // namespace jprof::cpo
