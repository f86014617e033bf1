// Predicts what large pages for some groups of memory gain and cost, from references in bursts, the
// addresses of all page faults, and the places of the groups.
//
// The percentage of the maximal benefit (PMB) of a set of groups is its benefit divided by that of
// all eligible groups, in percent; the benefit is what it saves of walks of page tables, or of page
// faults, compared with no group on large pages. It is 0 for no group and 100 for all. It may be
// less than 0 or more than 100 in between, where large pages of one group displace others from the
// TLB. If all eligible groups save nothing, each PMB is 0.
//
// The standard error of the PMB of walks is that of the jackknife over bursts
// (cpo/model/jackknife.h): how much it would differ had other bursts been traced. Faults are
// counted over the whole run, so that theirs is 0. Neither says how much another run would differ.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "cpo/model/fault_costs.h"
#include "cpo/model/references.h"
#include "cpo/model/tlb_geometry.h"
#include "cpo/model/traced_pages.h"
#include "cpo/model/translations.h"

namespace jprof::cpo {

struct Percent {
  double value = 0;
  std::optional<double> error;  // nothing if it is unknown: fewer than two bursts
};

// What a set of groups on large pages would cost.
struct PagePrediction {
  std::vector<uint32_t> groups;  // ascending, except in a row of Greedy: in the order of the choice
  uint64_t walks = 0;            // of page tables, in the observed bursts
  uint64_t first_misses = 0;     // of the first level, in the observed bursts
  uint64_t faults = 0;           // in the run
  uint64_t zeroed_bytes = 0;     // by the kernel, in the run
  uint64_t bloat_bytes = 0;      // at most at a time: of large pages, never touched
  uint64_t huge_pages = 0;       // at most at a time: pages of 2 MiB
  Percent pmb_walks;
  Percent pmb_faults;
};

enum class Objective { kWalks, kFaults };

struct ModelOptions {
  TlbGeometry tlb = DefaultTlb();
  Objective objective = Objective::kWalks;  // the other one decides where this one is equal
  // 1: each reference is simulated; more: one in so many translations (EstimateMisses).
  uint32_t sampling_weight = 1;
  // Greedy tries only so many groups, those that alone save most; its cost is quadratic in them.
  size_t most_greedy = 16;
};

class PageModel {
 public:
  // Reads both streams to their ends. Fails if there are more than 2^18 groups, if a placement has
  // a group that is not in `groups`, or if there are too many pages (TracePages).
  static Result<PageModel> Load(std::vector<Group> groups, std::vector<Placement> placements,
                                ReferenceStream& references, ReferenceStream& faults,
                                ModelOptions options = {});

  // Predicts for the eligible ones of these groups.
  PagePrediction Predict(std::span<const uint32_t> groups) const;

  const PagePrediction& none() const { return none_; }  // no group on large pages
  const PagePrediction& all() const { return all_; }    // all eligible ones
  const std::vector<Group>& groups() const { return groups_; }
  uint64_t references() const { return references_; }
  size_t bursts() const { return traced_.bursts.size(); }

  // Returns each eligible group alone, the greatest benefit first.
  std::vector<PagePrediction> Alone() const;

  // Returns sets that grow by one group each, the one that adds the greatest benefit to those
  // before it: from one group to all eligible ones.
  std::vector<PagePrediction> Greedy() const;

  // Returns the groups to choose if there are only so many large pages, by their benefit for each
  // large page, the best first. Groups that do not fit into the rest or save nothing are passed
  // over. `alone` is what Alone returned.
  std::vector<uint32_t> WithinLimit(uint64_t huge_pages,
                                    std::span<const PagePrediction> alone) const;

 private:
  struct Benefit {
    double walks = 0;
    double faults = 0;
  };

  PageModel() = default;
  BurstMisses MissesOf(const std::vector<bool>& is_large) const;  // indexed by group
  PagePrediction Describe(const std::vector<bool>& is_large, const BurstMisses& misses) const;
  Percent PmbOfWalks(const std::vector<double>& walks) const;
  Percent PmbOfFaults(uint64_t faults) const;
  Benefit BenefitOf(const PagePrediction& prediction) const;
  bool IsGreater(const Benefit& a, const Benefit& b) const;
  std::vector<uint32_t> Eligible() const;

  std::vector<Group> groups_;
  ModelOptions options_;
  TracedPages traced_;
  std::optional<FaultCosts> fault_costs_;
  uint64_t references_ = 0;
  std::vector<double> none_walks_, all_walks_;  // by burst
  PagePrediction none_, all_;
};

}  // namespace jprof::cpo
