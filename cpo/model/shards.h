// Estimates the misses of LRU caches from a sample of the units (Waldspurger, Park, Garthwaite,
// Ahmad: "Efficient MRC construction with SHARDS", FAST 2015). A unit is in the sample if its hash
// is below a threshold, so that all references to it are observed or none; a sample of one in w
// units has distances that are w times too small. Sums are estimated as w times those of the
// sample. The correction of SHARDS-adj adds the references that the sample has too few or too many
// to those of the shortest distance; for misses that means that they are never scaled by the
// number of sampled references, which depends on whether a hot unit is in the sample.
//
// How near it is. With n units that miss equally often, m of them in the sample, the standard error
// of the misses is 1/sqrt(m) of them (m is binomial). Where few units have most references, a
// sample of equal chances is good only for large caches: whether one hot unit is in the sample
// changes most distances by w. With 1 % of the units of Zipf streams, 2,048 entries were off by up
// to 9 % of the references (docs/OPTIMISE.md). WeightedReuse has no such limit, but reads the
// stream twice.
//
// No function fails; one thread may use an object at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "common/flat_map.h"
#include "cpo/model/reuse_distance.h"

namespace jprof::cpo {

// The sample of WeightedReuse has about as many units, if each unit is referenced once.
constexpr uint32_t kSampledUnits = 32768;
// 1 % of the units.
constexpr uint32_t kOnePercent = 100;

// Which units are sampled: one in `first_weight` at first. Whenever more than `most_units` are in
// the sample, the weight is doubled and units are dropped, up to `last_weight`.
struct Sampling {
  uint32_t first_weight = 1;
  uint32_t last_weight = 1;
  size_t most_units = std::numeric_limits<size_t>::max();

  static Sampling Exact() { return {}; }
  // One in `weight` units; memory grows with the units.
  static Sampling FixedRate(uint32_t weight) { return {weight, weight}; }
  // The most units that fit: bounded memory, and exact up to `units`.
  static Sampling FixedSize(size_t units) {
    return {1, std::numeric_limits<uint32_t>::max(), units};
  }
};

// Returns whether the unit is in a sample of one in `weight`. A sample contains each smaller one.
bool IsSampled(uint64_t unit, uint32_t weight);

class SampledReuse {
 public:
  explicit SampledReuse(Sampling sampling);

  void Touch(uint64_t unit);

  // Returns the estimated misses of a fully associative LRU cache of `size` units; exact if
  // weight() is 1 and the size is at most 65,536. Never more than references().
  uint64_t Misses(uint64_t size) const;

  uint64_t references() const { return references_; }  // all of them, sampled or not
  size_t sampled_units() const { return distances_.units(); }
  uint32_t weight() const { return weight_; }  // one in so many is sampled now
  // Returns the estimated histogram of the distances, without the correction.
  const DistanceHistogram& histogram() const { return histogram_; }

 private:
  void Shrink();

  Sampling sampling_;
  uint32_t weight_;
  uint64_t threshold_;
  uint64_t references_ = 0;
  ReuseDistances distances_;
  DistanceHistogram histogram_{uint64_t{1} << 16};
};

// Returns the weight of a unit with `references` of the `all` references: a unit is in the sample
// with the probability min(1, kSampledUnits * references / all), but at least 1 / most_weight.
// Misses are then estimated with a standard error of at most 1/sqrt(kSampledUnits) of all
// references, 0.55 %, whatever the stream is like: the variance of a sum over a sample of
// independent units is the sum of (1 - p) / p * misses^2 (Horvitz, Thompson: "A generalization of
// sampling without replacement from a finite universe", JASA 47(260), 1952), and no unit misses
// more often than it is referenced. To this comes the error of distances, which is small because
// hot units, which are in most of them, are counted exactly.
uint32_t WeightOf(uint64_t references, uint64_t all, uint32_t most_weight);

// Estimates the misses of one stream in two passes: the first counts the references of each unit,
// the second measures the distances of a sample in which each unit is as likely as it is hot.
class WeightedReuse {
 public:
  explicit WeightedReuse(uint32_t most_weight = kOnePercent) : most_weight_(most_weight) {}

  // Counts a reference of the first pass.
  void Count(uint64_t unit);

  // Measures a reference of the second pass, which must be the same stream.
  void Touch(uint64_t unit);

  // Returns the estimated misses of a fully associative LRU cache of `size` units, within 2 % of
  // the references; exact if there are fewer than 2 * kSampledUnits references.
  uint64_t Misses(uint64_t size) const;

  uint64_t references() const { return references_; }
  size_t units() const { return counts_.size(); }
  size_t sampled_units() const { return distances_.units(); }

 private:
  uint32_t most_weight_;
  uint64_t references_ = 0;
  FlatMap ids_;
  std::vector<uint32_t> counts_;  // by id
  ReuseDistances distances_;
  DistanceHistogram histogram_{uint64_t{1} << 16};
};

}  // namespace jprof::cpo
