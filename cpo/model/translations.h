// Counts the misses of a TLB over traced pages if some groups are on large pages: exactly, or
// estimated from a sample of translations.
#pragma once

#include <cstdint>
#include <vector>

#include "cpo/model/shards.h"
#include "cpo/model/tlb_geometry.h"
#include "cpo/model/traced_pages.h"

namespace jprof::cpo {

// The misses in each burst. The TLB is empty before the first burst, and has at the beginning of
// each other one what the burst before it left there: what really was there was not observed, and
// an empty one would miss more (Kessler, Hill, Wood: "A comparison of trace-sampling techniques for
// multi-megabyte caches", IEEE Trans. Computers 43(6), 1994: "stitch").
struct BurstMisses {
  std::vector<double> walks;         // neither level had the translation
  std::vector<double> first_misses;  // the first one did not, the second may have had it
};

// Simulates each reference (cpo/model/tlb.h). `is_large` is indexed by group; pages without a block
// stay small.
BurstMisses CountMisses(const TracedPages& traced, const std::vector<bool>& is_large,
                        const TlbGeometry& tlb);

// Estimates the same from a sample of one in `weight` translations, in which those of hot pages are
// likelier (WeightOf, of cpo/model/shards.h). Differs from the simulation by the sample, within 2 %
// of the references whose page is not that of the one before, and because arrays are taken for
// fully associative, and the second level for one that sees each reference.
BurstMisses EstimateMisses(const TracedPages& traced, const std::vector<bool>& is_large,
                           const TlbGeometry& tlb, uint32_t weight = kOnePercent);

}  // namespace jprof::cpo
