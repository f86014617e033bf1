// Slow, obvious caches that the model is compared with, and streams of references.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/random.h"
#include "cpo/model/references.h"
#include "cpo/model/tlb_geometry.h"

namespace jprof::cpo::oracle {

// A list of at most `size` units, the most recently used one in front.
class ListCache {
 public:
  explicit ListCache(size_t size) : size_(size) {}

  bool Touch(uint64_t unit) {
    const auto found = std::find(units_.begin(), units_.end(), unit);
    const bool hit = found != units_.end();
    if (hit) units_.erase(found);
    units_.push_front(unit);
    if (units_.size() > size_) units_.pop_back();
    return hit;
  }

 private:
  size_t size_;
  std::list<uint64_t> units_;
};

inline uint64_t Misses(const std::vector<uint64_t>& units, size_t size) {
  ListCache cache(size);
  return static_cast<uint64_t>(
      std::ranges::count_if(units, [&](uint64_t unit) { return !cache.Touch(unit); }));
}

// A TLB that finds what to replace by the times of the last use.
class TimedTlb {
 public:
  explicit TimedTlb(const TlbGeometry& geometry) : geometry_(geometry) {}

  // Returns 0, 1 or 2: found in the first level, in the second, in none.
  int Touch(uint64_t page, bool large) {
    for (int level = 0; level < 2; ++level) {
      if (Touch(level, page, large)) return level;
    }
    return 2;
  }

 private:
  struct Entry {
    uint64_t page;
    bool large;
    uint64_t used;
  };

  bool Touch(int number, uint64_t page, bool large) {
    const TlbLevel& level = number == 0 ? geometry_.first : geometry_.second;
    const TlbArray& array = level.shared ? level.small : large ? level.large : level.small;
    if (array.entries == 0) return false;
    const int which = 2 * number + (large && !level.shared ? 1 : 0);
    std::vector<Entry>& set = sets_[{which, page % (array.entries / array.ways)}];
    ++time_;
    for (Entry& entry : set) {
      if (entry.page != page || entry.large != large) continue;
      entry.used = time_;
      return true;
    }
    if (set.size() == array.ways) set.erase(std::ranges::min_element(set, {}, &Entry::used));
    set.push_back({page, large, time_});
    return false;
  }

  TlbGeometry geometry_;
  uint64_t time_ = 0;
  std::map<std::pair<int, uint64_t>, std::vector<Entry>> sets_;
};

struct Stream {
  std::string name;
  std::vector<uint64_t> units;
};

inline double Uniform(uint64_t& state) {
  return static_cast<double>(NextRandom(state) >> 11) * 0x1p-53;
}

inline Stream RandomStream(size_t references, uint64_t units, uint64_t seed = 1) {
  Stream stream{"random", {}};
  while (stream.units.size() < references) stream.units.push_back(NextRandom(seed) % units);
  return stream;
}

inline Stream StridedStream(size_t references, uint64_t units, uint64_t stride) {
  Stream stream{"strided", {}};
  for (uint64_t at = 0; stream.units.size() < references; at += stride) {
    stream.units.push_back(at % units);
  }
  return stream;
}

inline Stream LoopingStream(size_t references, uint64_t units) {
  Stream stream = StridedStream(references, units, 1);
  stream.name = "looping";
  return stream;
}

// Unit k is referenced with a probability proportional to 1 / (k + 1)^exponent.
inline Stream ZipfStream(size_t references, uint64_t units, double exponent, uint64_t seed = 3) {
  std::vector<double> sums;
  double sum = 0;
  for (uint64_t k = 1; k <= units; ++k) {
    sums.push_back(sum += std::pow(static_cast<double>(k), -exponent));
  }
  Stream stream{"zipf", {}};
  while (stream.units.size() < references) {
    const auto found = std::ranges::lower_bound(sums, Uniform(seed) * sum);
    const auto unit = std::min<uint64_t>(found - sums.begin(), units - 1);
    stream.units.push_back(unit * 0x9e3779b1u % 0x7fffffffu);  // hot units are not neighbours
  }
  return stream;
}

inline std::vector<Stream> SmallStreams() {
  return {RandomStream(20000, 300), StridedStream(20000, 1024, 7), LoopingStream(20000, 97),
          ZipfStream(20000, 2000, 0.9), RandomStream(5000, 100000)};
}

// Returns references to addresses, one a nanosecond from `from_ns`.
inline std::vector<Reference> ReferencesTo(const std::vector<uint64_t>& addresses,
                                           uint64_t from_ns = 0) {
  std::vector<Reference> references;
  for (const uint64_t address : addresses) references.push_back({address, from_ns++, true});
  return references;
}

}  // namespace jprof::cpo::oracle
