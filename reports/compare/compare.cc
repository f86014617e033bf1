// Compares two profiles.
#include "reports/compare/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "reports/compare/greatest.h"

namespace jprof::reports {
namespace {

bool HasMetric(const model::Source& source, std::string_view name) {
  return std::ranges::any_of(source.reader.meta().metrics,
                             [&](const auto& metric) { return metric.name == name; });
}

// Returns the metric by which each side is compared. An empty name selects the first one.
std::array<std::string, 2> MetricsOf(const model::Source& a, const model::Source& b,
                                     const std::string& wanted) {
  if (HasMetric(a, wanted) && HasMetric(b, wanted)) return {wanted, wanted};
  if (const size_t comma = wanted.find(','); comma != std::string::npos)
    return {wanted.substr(0, comma), wanted.substr(comma + 1)};
  if (!wanted.empty()) return {wanted, wanted};
  for (const profile::Metric& metric : a.reader.meta().metrics) {
    if (HasMetric(b, metric.name)) return {metric.name, metric.name};
  }
  return {};
}

// Ranks those of `count` ids that have an amount other than 0. Returns how many differ by more than
// the error.
template <typename Amounts>
size_t Rank(const Comparison& comparison, uint32_t from, size_t count, const Amounts& amounts_of,
            std::vector<Ranked>& ranked) {
  size_t beyond = 0;
  for (auto id = from; id < count; ++id) {
    const std::array<model::Amount, 2>& amounts = amounts_of(id);
    if (amounts[0].value == 0 && amounts[1].value == 0) continue;
    const Difference difference = comparison.Of(amounts);
    ranked.push_back({id, difference.within, Finite(difference.change.value)});
    beyond += !difference.within;
  }
  std::ranges::stable_sort(ranked, [](const Ranked& a, const Ranked& b) {
    return std::tuple(a.within, -std::abs(a.change)) < std::tuple(b.within, -std::abs(b.change));
  });
  return beyond;
}

TopTen CompareTops(const model::JointTree& tree) {
  const auto value = [&](model::NodeIndex context, size_t side) {
    return Finite(tree.contexts[context].self[side].value);
  };
  std::array<std::vector<uint32_t>, 2> lists;
  for (size_t side = 0; side < 2; ++side) {
    lists[side] = Greatest(tree.contexts.size(), 1, 10, [&](uint32_t i) { return value(i, side); });
  }
  const size_t size = std::min(lists[0].size(), lists[1].size());
  for (auto& list : lists) list.resize(size);
  std::set<uint32_t> either(lists[0].begin(), lists[0].end());
  either.insert(lists[1].begin(), lists[1].end());
  const auto rank = [&](const auto& contexts) {
    std::vector<double> a, b;
    for (const model::NodeIndex context : contexts) {
      a.push_back(value(context, 0));
      b.push_back(value(context, 1));
    }
    return model::RankCorrelation(a, b);
  };
  return {size,           2 * size - either.size(), either.size(),
          rank(lists[0]), rank(lists[1]),           rank(either)};
}

Result<void> CheckCommon(const Comparison& comparison) {
  const auto& methods = comparison.tree.methods;
  if (std::ranges::any_of(methods, [](const model::JointMethod& method) { return method.in == 3; }))
    return {};
  return WrongUse("{} and {} have no method in common: are they of the same program?",
                  comparison.sides[0].directory, comparison.sides[1].directory);
}

Result<void> CheckUnits(const Comparison& comparison) {
  const std::array<Side, 2>& sides = comparison.sides;
  if (!comparison.absolute || sides[0].unit == sides[1].unit) return {};
  return WrongUse(
      "--absolute needs one unit: {} is in {}, {} in {}; leave it out to compare shares",
      sides[0].metric, sides[0].unit, sides[1].metric, sides[1].unit);
}

// Returns which kinds of frames other than Java methods a profile has (of profile::kMethodNotJava).
uint16_t KindsIn(const model::Forest& forest) {
  uint16_t kinds = 0;
  for (const model::Row& row : forest.rows.rows) {
    if (row.method != profile::kRootMethod) kinds |= forest.names.Parts(row.method).flags;
  }
  return kinds & profile::kMethodNotJava;
}

// Builds the tree of both sides. A counted profile contains only the native functions that call
// hooks, a sampled one contains all. So native functions are comparable only in two profiles of one
// kind, if both have any.
model::JointTree Joined(std::array<model::Forest, 2>& forests, const std::array<Side, 2>& sides) {
  const bool alike = sides[0].sampled == sides[1].sampled;
  const int both = alike ? KindsIn(forests[0]) & KindsIn(forests[1]) : 0;
  model::JointTreeBuilder builder(static_cast<uint16_t>(profile::kMethodNotJava & ~both));
  for (size_t side = 0; side < 2; ++side) builder.Add(forests[side], side);
  return builder.Take();
}

}  // namespace

Difference Comparison::Of(const std::array<model::Amount, 2>& amounts) const {
  std::array<model::Estimate, 2> estimates;
  for (size_t side = 0; side < 2; ++side) {
    estimates[side] = absolute ? AbsoluteOf(sides[side], amounts[side])
                               : ShareOf(sides[side], amounts[side], sides[side].inside);
  }
  const model::Estimate change = model::Change(estimates[0], estimates[1]);
  const bool beyond =
      change.value != 0 && (change.low > 0 || change.high < 0);  // false if one is NaN
  return {estimates[0], estimates[1], change, !beyond};
}

Result<Comparison> CompareTwo(model::Source& a, model::Source& b, const CompareOptions& options) {
  Comparison comparison;
  comparison.absolute = options.absolute;
  const std::array<std::string, 2> metrics = MetricsOf(a, b, options.metric);
  std::array<model::Forest, 2> forests;
  for (size_t side = 0; side < 2; ++side) {
    model::Source& source = side == 0 ? a : b;
    Result<model::Forest> forest = LoadSide(source, metrics[side]);
    if (!forest) return std::unexpected(forest.error());
    comparison.sides[side] = SideOf(source, *forest);
    forests[side] = std::move(*forest);
  }
  comparison.tree = Joined(forests, comparison.sides);
  for (size_t side = 0; side < 2; ++side) {
    MeasureSide(comparison.tree, side, comparison.sides[side]);
    if (auto good = CheckSide(comparison.sides[side]); !good) return std::unexpected(good.error());
  }
  if (auto good = CheckCommon(comparison); !good) return std::unexpected(good.error());
  if (auto good = CheckUnits(comparison); !good) return std::unexpected(good.error());
  const model::JointTree& tree = comparison.tree;
  comparison.contexts_beyond = Rank(
      comparison, 1,
      tree.contexts.size(), [&](uint32_t i) -> const auto& { return tree.contexts[i].self; },
      comparison.contexts);
  comparison.methods_beyond = Rank(
      comparison, 0,
      tree.methods.size(), [&](uint32_t i) -> const auto& { return tree.methods[i].self; },
      comparison.methods);
  comparison.top = CompareTops(tree);
  comparison.calls = CompareCalls(forests, tree);
  return comparison;
}

Quality QualityOfBoth(const Comparison& comparison) {
  Quality quality;
  for (size_t side = 0; side < 2; ++side) {
    const Side& one = comparison.sides[side];
    Quality of = one.quality;
    const double share =
        one.inside.value > 0 ? comparison.tree.folded[side].value / one.inside.value : 0;
    if (share > 0) {
      of.Add({{"native_frames", share, Graded(share, {.minor = 0.1, .major = 0.8}),
               fmt::format("{:.1f} % in native, kernel and VM frames", 100 * share), "",
               "Such frames cannot be compared: they count for the method that called them.", ""}});
    }
    quality.AddOf(side == 0 ? "A" : "B", of);
  }
  return quality;
}

}  // namespace jprof::reports
