#include "cpo/model/shards.h"

#include <algorithm>

namespace jprof::cpo {
namespace {

// The finaliser of MurmurHash3: each bit of the unit changes half of the bits.
uint64_t HashOf(uint64_t unit) {
  unit ^= unit >> 33;
  unit *= 0xff51afd7ed558ccdu;
  unit ^= unit >> 33;
  unit *= 0xc4ceb9fe1a85ec53u;
  return unit ^ (unit >> 33);
}

uint64_t ThresholdOf(uint32_t weight) { return ~uint64_t{0} / weight; }

}  // namespace

bool IsSampled(uint64_t unit, uint32_t weight) { return HashOf(unit) <= ThresholdOf(weight); }

SampledReuse::SampledReuse(Sampling sampling)
    : sampling_(sampling),
      weight_(std::max(1u, sampling.first_weight)),
      threshold_(ThresholdOf(weight_)) {}

void SampledReuse::Touch(uint64_t unit) {
  ++references_;
  if (HashOf(unit) > threshold_) return;
  histogram_.Add(distances_.Touch(unit, weight_), weight_);
  while (distances_.units() > sampling_.most_units && weight_ < sampling_.last_weight) Shrink();
}

void SampledReuse::Shrink() {
  weight_ = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{2} * weight_, sampling_.last_weight));
  threshold_ = ThresholdOf(weight_);
  distances_.Thin([this](uint64_t unit) { return HashOf(unit) <= threshold_; }, weight_);
}

uint64_t SampledReuse::Misses(uint64_t size) const {
  return std::min(references_, histogram_.Misses(size));
}

uint32_t WeightOf(uint64_t references, uint64_t all, uint32_t most_weight) {
  const uint64_t fitting = all / (kSampledUnits * std::max<uint64_t>(references, 1));
  return static_cast<uint32_t>(std::clamp<uint64_t>(fitting, 1, most_weight));
}

void WeightedReuse::Count(uint64_t unit) {
  ++references_;
  const uint32_t id = ids_.FindOrAdd(unit, static_cast<uint32_t>(counts_.size()));
  if (id == counts_.size()) counts_.push_back(0);
  ++counts_[id];
}

void WeightedReuse::Touch(uint64_t unit) {
  const uint32_t count = counts_[ids_.Get(unit, 0)];
  const uint32_t weight = WeightOf(count, references_, most_weight_);
  if (IsSampled(unit, weight)) histogram_.Add(distances_.Touch(unit, weight), weight);
}

uint64_t WeightedReuse::Misses(uint64_t size) const {
  return std::min(references_, histogram_.Misses(size));
}

}  // namespace jprof::cpo
