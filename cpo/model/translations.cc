#include "cpo/model/translations.h"

#include <algorithm>

#include "common/flat_map.h"
#include "cpo/model/tlb.h"

namespace jprof::cpo {
namespace {

// The translation that a page needs.
struct Translation {
  uint64_t page = 0;
  bool large = false;
  uint64_t Key() const { return page << 1 | (large ? 1 : 0); }
};

std::vector<Translation> TranslationsOf(const TracedPages& traced,
                                        const std::vector<bool>& is_large) {
  std::vector<Translation> translations;
  translations.reserve(traced.pages.size());
  for (const TracedPage& page : traced.pages) {
    const bool large =
        page.block != kNoBlock && page.group < is_large.size() && is_large[page.group];
    translations.push_back({large ? page.block : page.small, large});
  }
  return translations;
}

// Calls `touch(index of page)` for each reference whose translation differs from the one before,
// and `end()` after each burst.
template <typename Touch, typename End>
void ForEachChange(const TracedPages& traced, const std::vector<Translation>& translations,
                   const Touch& touch, const End& end) {
  uint64_t last = ~uint64_t{0};
  size_t next = 0;
  for (const TracedBurst& burst : traced.bursts) {
    for (; next < burst.end; ++next) {
      const uint32_t index = traced.order[next];
      const uint64_t key = translations[index].Key();
      if (key == last) continue;
      last = key;
      touch(index);
    }
    end();
  }
}

// By index of pages: how many translations the one of a page stands for, or 0 if it is not in the
// sample.
std::vector<uint32_t> Weights(const TracedPages& traced,
                              const std::vector<Translation>& translations, uint32_t weight) {
  FlatMap ids;
  std::vector<uint32_t> id_of;  // by index of pages; the pages of a large one have the same
  std::vector<uint64_t> counts;
  for (const Translation& translation : translations) {
    id_of.push_back(ids.FindOrAdd(translation.Key(), static_cast<uint32_t>(counts.size())));
    if (id_of.back() == counts.size()) counts.push_back(0);
  }
  uint64_t all = 0;
  ForEachChange(
      traced, translations, [&](uint32_t index) { ++all, ++counts[id_of[index]]; }, [] {});
  std::vector<uint32_t> weights;
  for (size_t index = 0; index < translations.size(); ++index) {
    const uint32_t used = WeightOf(counts[id_of[index]], all, weight);
    weights.push_back(IsSampled(translations[index].Key(), used) ? used : 0);
  }
  return weights;
}

// The distances of the references to one or both sizes, for the arrays that hold these.
struct SampledArrays {
  ReuseDistances small, large, both;
};

// Estimates whether an array of this level misses. Distances among pages of its own size are used
// if it is split.
bool Misses(const TlbLevel& level, bool large, uint64_t own, uint64_t both) {
  return (level.shared ? both : own) >= level.Of(large).entries;
}

}  // namespace

BurstMisses CountMisses(const TracedPages& traced, const std::vector<bool>& is_large,
                        const TlbGeometry& geometry) {
  const std::vector<Translation> translations = TranslationsOf(traced, is_large);
  DataTlb tlb(geometry);
  BurstMisses misses;
  uint64_t walks = 0, first_misses = 0;
  ForEachChange(
      traced, translations,
      [&](uint32_t index) {
        const TlbHit hit = tlb.Touch(translations[index].page, translations[index].large);
        first_misses += hit != TlbHit::kFirst;
        walks += hit == TlbHit::kNone;
      },
      [&] {
        misses.walks.push_back(static_cast<double>(walks));
        misses.first_misses.push_back(static_cast<double>(first_misses));
        walks = first_misses = 0;
      });
  return misses;
}

BurstMisses EstimateMisses(const TracedPages& traced, const std::vector<bool>& is_large,
                           const TlbGeometry& tlb, uint32_t weight) {
  const std::vector<Translation> translations = TranslationsOf(traced, is_large);
  const std::vector<uint32_t> weights = Weights(traced, translations, std::max(weight, 1u));
  SampledArrays arrays;
  BurstMisses misses;
  double walks = 0, first_misses = 0;
  ForEachChange(
      traced, translations,
      [&](uint32_t index) {
        const uint32_t used = weights[index];
        if (used == 0) return;
        const bool large = translations[index].large;
        const uint64_t key = translations[index].Key();
        const uint64_t own = (large ? arrays.large : arrays.small).Touch(key, used);
        const uint64_t both = arrays.both.Touch(key, used);
        if (!Misses(tlb.first, large, own, both)) return;
        first_misses += used;
        if (Misses(tlb.second, large, own, both)) walks += used;
      },
      [&] {
        misses.walks.push_back(walks);
        misses.first_misses.push_back(first_misses);
        walks = first_misses = 0;
      });
  return misses;
}

}  // namespace jprof::cpo
