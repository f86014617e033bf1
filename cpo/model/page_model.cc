#include "cpo/model/page_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "cpo/model/jackknife.h"

namespace jprof::cpo {
namespace {

constexpr size_t kMostGroups = size_t{1} << 18;

uint64_t Sum(const std::vector<double>& values) {
  return static_cast<uint64_t>(std::llround(std::accumulate(values.begin(), values.end(), 0.0)));
}

std::vector<double> Differences(const std::vector<double>& from,
                                const std::vector<double>& values) {
  std::vector<double> differences;
  std::ranges::transform(from, values, std::back_inserter(differences), std::minus<>());
  return differences;
}

double Difference(uint64_t from, uint64_t value) {
  return static_cast<double>(from) - static_cast<double>(value);
}

}  // namespace

Result<PageModel> PageModel::Load(std::vector<Group> groups, std::vector<Placement> placements,
                                  ReferenceStream& references, ReferenceStream& faults,
                                  ModelOptions options) {
  if (groups.size() > kMostGroups) {
    return Fail("{} groups of memory are more than the model can take, {}", groups.size(),
                kMostGroups);
  }
  for (const Placement& placement : placements) {
    if (placement.group < groups.size()) continue;
    return Fail("a placement at {:#x} is of the group {}, but there are {} groups", placement.start,
                placement.group, groups.size());
  }
  PageModel model;
  model.groups_ = std::move(groups);
  model.options_ = std::move(options);
  const Blocks blocks(model.groups_, placements);
  auto traced = TracePages(references, placements, blocks);
  if (!traced) return std::unexpected(std::move(traced.error()));
  model.traced_ = std::move(*traced);
  for (const TracedBurst& burst : model.traced_.bursts) model.references_ += burst.references;
  model.fault_costs_.emplace(faults, model.groups_, placements, blocks);
  std::vector<bool> eligible;
  for (const Group& group : model.groups_) eligible.push_back(group.eligible);
  const std::vector<bool> nothing(model.groups_.size());
  const BurstMisses none = model.MissesOf(nothing), all = model.MissesOf(eligible);
  model.none_walks_ = none.walks;
  model.all_walks_ = all.walks;
  model.none_.faults = model.fault_costs_->Faults(nothing).faults;
  model.all_.faults = model.fault_costs_->Faults(eligible).faults;
  model.none_ = model.Describe(nothing, none);
  model.all_ = model.Describe(eligible, all);
  return model;
}

BurstMisses PageModel::MissesOf(const std::vector<bool>& is_large) const {
  if (options_.sampling_weight <= 1) return CountMisses(traced_, is_large, options_.tlb);
  return EstimateMisses(traced_, is_large, options_.tlb, options_.sampling_weight);
}

PagePrediction PageModel::Predict(std::span<const uint32_t> groups) const {
  std::vector<bool> is_large(groups_.size());
  for (const uint32_t group : groups) {
    if (group < groups_.size() && groups_[group].eligible) is_large[group] = true;
  }
  return Describe(is_large, MissesOf(is_large));
}

PagePrediction PageModel::Describe(const std::vector<bool>& is_large,
                                   const BurstMisses& misses) const {
  PagePrediction prediction;
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    if (is_large[group]) prediction.groups.push_back(group);
  }
  prediction.walks = Sum(misses.walks);
  prediction.first_misses = Sum(misses.first_misses);
  prediction.pmb_walks = PmbOfWalks(misses.walks);
  const FaultCost faults = fault_costs_->Faults(is_large);
  prediction.faults = faults.faults;
  prediction.zeroed_bytes = faults.zeroed_bytes;
  prediction.pmb_faults = PmbOfFaults(faults.faults);
  const MemoryCost memory = fault_costs_->Memory(is_large);
  prediction.huge_pages = memory.huge_pages;
  prediction.bloat_bytes = memory.bloat_bytes;
  return prediction;
}

Percent PageModel::PmbOfWalks(const std::vector<double>& walks) const {
  const std::vector<double> benefit = Differences(none_walks_, walks);
  const std::vector<double> most = Differences(none_walks_, all_walks_);
  const double sum = std::accumulate(most.begin(), most.end(), 0.0);
  if (sum <= 0) return {0, std::nullopt};
  Percent percent{100 * std::accumulate(benefit.begin(), benefit.end(), 0.0) / sum,
                  JackknifeError(benefit, most)};
  if (percent.error) *percent.error *= 100;
  return percent;
}

Percent PageModel::PmbOfFaults(uint64_t faults) const {
  const double most = Difference(none_.faults, all_.faults);
  return {most <= 0 ? 0 : 100 * Difference(none_.faults, faults) / most, 0.0};
}

PageModel::Benefit PageModel::BenefitOf(const PagePrediction& prediction) const {
  return {Difference(none_.walks, prediction.walks), Difference(none_.faults, prediction.faults)};
}

bool PageModel::IsGreater(const Benefit& a, const Benefit& b) const {
  if (options_.objective == Objective::kFaults) {
    return std::tie(a.faults, a.walks) > std::tie(b.faults, b.walks);
  }
  return std::tie(a.walks, a.faults) > std::tie(b.walks, b.faults);
}

std::vector<uint32_t> PageModel::Eligible() const {
  std::vector<uint32_t> eligible;
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].eligible) eligible.push_back(group);
  }
  return eligible;
}

std::vector<PagePrediction> PageModel::Alone() const {
  std::vector<PagePrediction> alone;
  for (const uint32_t group : Eligible()) alone.push_back(Predict({&group, 1}));
  std::ranges::stable_sort(alone, [this](const PagePrediction& a, const PagePrediction& b) {
    return IsGreater(BenefitOf(a), BenefitOf(b));
  });
  return alone;
}

std::vector<PagePrediction> PageModel::Greedy() const {
  std::vector<uint32_t> left;
  for (const PagePrediction& alone : Alone()) left.push_back(alone.groups.front());
  std::vector<uint32_t> chosen;
  std::vector<PagePrediction> sets;
  while (!left.empty()) {
    const size_t tried =
        std::min(left.size(),
                 chosen.size() < options_.most_greedy ? options_.most_greedy - chosen.size() : 1);
    size_t best = 0;
    PagePrediction best_set;
    for (size_t candidate = 0; candidate < tried; ++candidate) {
      chosen.push_back(left[candidate]);
      PagePrediction set = Predict(chosen);
      chosen.pop_back();
      if (candidate > 0 && !IsGreater(BenefitOf(set), BenefitOf(best_set))) continue;
      best = candidate;
      best_set = std::move(set);
    }
    chosen.push_back(left[best]);
    left.erase(left.begin() + static_cast<ptrdiff_t>(best));
    best_set.groups = chosen;
    sets.push_back(std::move(best_set));
  }
  return sets;
}

std::vector<uint32_t> PageModel::WithinLimit(uint64_t huge_pages,
                                             std::span<const PagePrediction> alone) const {
  struct Choice {
    uint32_t group;
    uint64_t pages;
    Benefit per_page;
  };
  std::vector<Choice> choices;
  for (const PagePrediction& prediction : alone) {
    const Benefit benefit = BenefitOf(prediction);
    const double first = options_.objective == Objective::kWalks ? benefit.walks : benefit.faults;
    if (first <= 0) continue;
    const uint64_t pages = std::max<uint64_t>(1, prediction.huge_pages);
    const auto divisor = static_cast<double>(pages);
    choices.push_back(
        {prediction.groups.front(), pages, {benefit.walks / divisor, benefit.faults / divisor}});
  }
  std::ranges::stable_sort(choices, [this](const Choice& a, const Choice& b) {
    return IsGreater(a.per_page, b.per_page);
  });
  std::vector<uint32_t> chosen;
  for (const Choice& choice : choices) {
    if (choice.pages > huge_pages) continue;
    huge_pages -= choice.pages;
    chosen.push_back(choice.group);
  }
  return chosen;
}

}  // namespace jprof::cpo
