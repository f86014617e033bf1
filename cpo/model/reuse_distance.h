// Computes reuse distances: how many other units (pages, entries of a TLB) were referenced since
// the last reference to the same unit. A fully associative LRU cache of C entries misses exactly
// those references whose distance is at least C, so that one pass gives the misses of all sizes
// (Mattson, Gecsei, Slutz, Traiger: "Evaluation techniques for storage hierarchies", IBM Systems
// Journal 9(2), 1970). A Fenwick tree over the times of the last references counts the units
// (Bennett, Kruskal: "LRU stack processing", IBM J. Res. Dev. 19(4), 1975): O(log n) for each
// reference to n units, and O(n) memory, because the times are renumbered when they run out.
//
// No function fails; one thread may use an object at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/flat_map.h"
#include "cpo/model/references.h"

namespace jprof::cpo {

class ReuseDistances {
 public:
  static constexpr uint64_t kFirst = ~uint64_t{0};  // the distance of a first reference

  // References `unit` and returns its distance: the sum of the weights of the other units that were
  // referenced since, or kFirst. Requires a weight of at least 1, which is the same at each
  // reference to a unit: a unit that represents w units in a sample has the weight w.
  uint64_t Touch(uint64_t unit, uint32_t weight = 1);

  // Forgets the units for which `keep` returns false; the others have `weight` from now on.
  void Thin(const std::function<bool(uint64_t unit)>& keep, uint32_t weight);

  // Returns the number of units that are remembered.
  size_t units() const { return unit_.size(); }

 private:
  static constexpr uint32_t kNoId = FlatMap::kNone;

  uint64_t SumUpTo(size_t time) const;  // of the weights at times 1..time
  void Add(size_t time, uint64_t weight);
  void Append(uint32_t id);
  void Renumber();

  FlatMap ids_;                   // unit -> id
  std::vector<uint64_t> unit_;    // by id
  std::vector<uint32_t> weight_;  // by id
  std::vector<size_t> last_;      // by id: the time of the last reference
  std::vector<uint32_t> id_at_;   // by time, from 1; kNoId if the unit was referenced later
  std::vector<uint64_t> tree_;    // by time, from 1: a Fenwick tree of weights
  size_t now_ = 0;
  uint64_t total_ = 0;  // of the weights of all units
};

// Counts distances. Those below `exact_below` have a counter each; above, a counter is for a range
// of less than 1/256 of its distances, so that memory is bounded.
class DistanceHistogram {
 public:
  static constexpr uint64_t kAlwaysExact = uint64_t{1} << 63;

  // Requires a power of two of at least 256.
  explicit DistanceHistogram(uint64_t exact_below = kAlwaysExact) : exact_below_(exact_below) {}

  // Counts `weight` references of this distance, which may be ReuseDistances::kFirst.
  void Add(uint64_t distance, uint64_t weight = 1);

  // Returns the misses of a fully associative LRU cache of `size` units. Where sizes share a
  // counter, it counts as hits.
  uint64_t Misses(uint64_t size) const;

  // Returns the misses of each of these sizes, which must ascend.
  std::vector<uint64_t> MissCurve(std::span<const uint64_t> sizes) const;

  uint64_t references() const { return references_; }
  uint64_t first_references() const { return first_; }

  // Calls `visit(least distance, references)` for each counter that is not 0, the nearest first.
  void ForEach(const std::function<void(uint64_t, uint64_t)>& visit) const;

 private:
  size_t IndexOf(uint64_t distance) const;
  uint64_t LeastOf(size_t index) const;

  uint64_t exact_below_;
  std::vector<uint64_t> counts_;
  uint64_t first_ = 0;
  uint64_t references_ = 0;
};

// The distances of one stream of addresses in pages of 4 KiB, 64 KiB and 2 MiB at once.
class PageReuse {
 public:
  static constexpr std::array<int, 3> kShifts = {kSmallShift, kMiddleShift, kLargeShift};

  void Touch(uint64_t address);
  // Returns the histogram of pages of `1 << shift` bytes. Requires one of kShifts.
  const DistanceHistogram& Of(int shift) const;

 private:
  std::array<ReuseDistances, 3> distances_;
  std::array<DistanceHistogram, 3> histograms_;
};

}  // namespace jprof::cpo
