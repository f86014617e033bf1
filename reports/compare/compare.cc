#include "reports/compare/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "common/nearest.h"
#include "profile/files/printable_text.h"
#include "profile/read/losses.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

// Replaces NaN (from a damaged table), which would break the sort order.
double Finite(double value) { return std::isfinite(value) ? value : 0; }

std::string HowText(const model::Source& source, const model::Forest& forest) {
  const model::MetricTotals& column = forest.metrics[0];
  const profile::Metric& info = column.info;
  if (column.counts == 0 && info.period.value > 0) {
    return fmt::format("{}, one each {}",
                       info.name == "samples" ? "samples" : info.name + " samples",
                       model::AmountIn(info.period.unit, static_cast<double>(info.period.value)));
  }
  if (info.is_samples()) return fmt::format("{} in {}, sampled", info.name, info.unit);
  const std::string calibrated = column.calibrated
                                     ? "calibrated with " + source.table_from
                                     : "UNCALIBRATED: the profiler's own cost is in it";
  return fmt::format("{} in {}, {}", info.name, info.unit, calibrated);
}

Side SideOf(const model::Source& source, const model::Forest& forest) {
  const model::MetricTotals& column = forest.metrics[0];
  Side side = {.directory = profile::CleanText(source.reader.directory()),
               .mode = source.reader.meta().mode,
               .how = HowText(source, forest),
               .metric = column.info.name};
  const bool stands_for = column.counts == 0 && column.info.period.value > 0;
  side.unit = stands_for ? column.info.period.unit : column.info.unit;
  side.sampled = column.info.is_samples();
  side.counted = column.counts != model::MetricTotals::kNoCounts;
  if (side.sampled && !side.counted)
    side.notes.push_back(
        "the number of samples behind its values is not known: every difference may be chance");
  for (const profile::Loss& loss : profile::Losses(source.reader)) {
    if (loss.count > 0) side.notes.push_back(fmt::format("lost: {} {}", loss.count, loss.says));
  }
  for (const std::string& damage : source.reader.damages().Lines())
    side.notes.push_back("damaged: " + damage);
  return side;
}

void MeasureSide(const model::JointTree& tree, size_t index, Side& side) {
  side.inside = {};
  for (size_t i = 1; i < tree.contexts.size(); ++i) side.inside += tree.contexts[i].self[index];
  side.outside = tree.contexts[0].self[index];
}

Result<void> CheckSide(const Side& side) {
  if (side.inside.value > 0 && (!side.counted || side.inside.samples > 0)) return {};
  return WrongUse("{}: nothing of '{}' was {} in any method: there is nothing to compare{}",
                  side.directory, side.metric, side.sampled ? "sampled" : "measured",
                  side.notes.empty() ? "" : " (" + side.notes.back() + ")");
}

// Returns the interval of a measured amount. The error of an inclusive amount is the sum of the
// errors below it, which is conservative.
model::Estimate Measured(double value, double error) {
  return {value, value - model::kDeviations95 * error, value + model::kDeviations95 * error};
}

model::Estimate AbsoluteOf(const Side& side, const model::Amount& part) {
  if (!side.sampled) return Measured(part.value, part.error);
  if (!side.counted) return {part.value, 0, std::max(part.value, side.inside.value)};
  const double one =
      part.samples > 0 ? part.value / part.samples : side.inside.value / side.inside.samples;
  return model::Scaled(model::Poisson(part.samples), one);
}

// Returns part / (part + remainder). Both are uncertain; a part that is the whole has a share of
// exactly 1.
model::Estimate MeasuredShare(const model::Amount& part, const model::Amount& whole) {
  if (!(whole.value > 0)) return {0, 0, 1};
  const double share = part.value / whole.value;
  const double rest_error = std::max(0.0, whole.error - part.error);
  const double error = std::hypot((1 - share) * part.error, share * rest_error) / whole.value;
  model::Estimate estimate = Measured(share, error);
  if (!(share >= 0 && share <= 1)) return estimate;  // over-calibrated, or the remainder is
  estimate.low = std::max(estimate.low, 0.0);
  estimate.high = std::min(estimate.high, 1.0);
  return estimate;
}

Result<model::Forest> Load(model::Source& source, const std::string& metric) {
  if (source.reader.meta().metrics.empty()) {
    return WrongUse(
        "{} has no metric: calls alone do not tell what "
        "costs; profile with jprof callflow or jprof scs",
        source.reader.directory());
  }
  model::ForestOptions options;
  options.merged = true;
  options.metric = metric.empty() ? source.reader.meta().metrics[0].name : metric;
  return model::LoadForest(source, options);
}

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

// Returns up to `count` indices with the greatest positive values, the greatest first.
template <typename Value>
std::vector<uint32_t> Greatest(size_t size, uint32_t from, size_t count, const Value& value) {
  std::vector<std::pair<double, uint32_t>> found;
  for (auto i = from; i < size; ++i) {
    if (const double v = Finite(value(i)); v > 0) found.emplace_back(-v, i);
  }
  count = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(count), found.end());
  std::vector<uint32_t> greatest;
  for (size_t i = 0; i < count; ++i) greatest.push_back(found[i].second);
  return greatest;
}

bool IsOutermost(const model::JointTree& tree, uint32_t context) {
  const uint32_t name = tree.contexts[context].name;
  for (uint32_t at = tree.contexts[context].parent; at != 0; at = tree.contexts[at].parent) {
    if (tree.contexts[at].name == name) return false;
  }
  return true;
}

// The amounts of contexts and of methods by which a list is sorted.
struct By {
  std::array<model::Amount, 2> model::Context::*context;
  std::array<model::Amount, 2> model::JointMethod::*method;
  bool outermost;  // only the outermost calls of a recursion, which include the others
};
constexpr By kBySelf = {&model::Context::self, &model::JointMethod::self, false};
constexpr By kByAll = {&model::Context::all, &model::JointMethod::all, true};

class FlatLists {
 public:
  FlatLists(FlatAndContext& flat, size_t top) : flat_(flat), tree_(flat.tree), top_(top) {}

  std::vector<HotMethod> Hottest(const By& by) {
    const auto names = Greatest(tree_.methods.size(), 0, top_, [&](uint32_t name) {
      return (tree_.methods[name].*by.method)[0].value;
    });
    std::vector<HotMethod> hot;
    for (const uint32_t name : names) hot.push_back(Method(name));
    AddParts(by, hot);
    return hot;
  }

  // Returns methods whose exclusive share is at most a tenth of the inclusive one, which is at
  // least 5 % of the whole.
  std::vector<HotMethod> Hidden() {
    const auto names = Greatest(tree_.methods.size(), 0, top_, [&](uint32_t name) {
      const HotMethod method = Method(name);
      const bool is_hidden = method.self.high < method.all.low / 10 && method.all.value >= 0.05;
      return is_hidden ? method.all.value : 0;
    });
    std::vector<HotMethod> hidden;
    for (const uint32_t name : names) hidden.push_back(Method(name));
    return hidden;
  }

 private:
  HotMethod Method(uint32_t name) const {
    const model::JointMethod& method = tree_.methods[name];
    const model::Amount& inside = flat_.side.inside;
    return {.name = name,
            .self = ShareOf(flat_.side, method.self[0], inside),
            .all = ShareOf(flat_.side, method.all[0], inside)};
  }

  void AddParts(const By& by, std::vector<HotMethod>& hot) {
    std::vector<HotMethod*> wanted(tree_.methods.size());
    for (HotMethod& method : hot) wanted[method.name] = &method;
    for (uint32_t i = 1; i < tree_.contexts.size(); ++i) {
      const model::Context& context = tree_.contexts[i];
      HotMethod* method = wanted[context.name];
      const model::Amount& part = (context.*by.context)[0];
      if (method == nullptr || part.value == 0 || (by.outermost && !IsOutermost(tree_, i)))
        continue;
      const model::Amount& whole = (tree_.methods[context.name].*by.method)[0];
      method->parts.push_back({i, ShareOf(flat_.side, part, whole)});
    }
    for (HotMethod& method : hot) KeepGreatest(method);
  }

  void KeepGreatest(HotMethod& method) {
    std::ranges::stable_sort(method.parts, [](const Part& a, const Part& b) {
      return Finite(a.share.value) > Finite(b.share.value);
    });
    const size_t kept = std::min(method.parts.size(), top_);
    method.other_parts = method.parts.size() - kept;
    for (size_t i = kept; i < method.parts.size(); ++i)
      method.other_share += method.parts[i].share.value;
    method.parts.resize(kept);
  }

  FlatAndContext& flat_;
  const model::JointTree& tree_;
  size_t top_;
};

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
  const auto value = [&](uint32_t context, size_t side) {
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
    for (const uint32_t context : contexts) {
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

model::Estimate ShareOf(const Side& side, const model::Amount& part, const model::Amount& whole) {
  const double share = whole.value > 0 ? part.value / whole.value : 0;
  if (!side.sampled) return MeasuredShare(part, whole);
  if (!side.counted) return {share, 0, 1};
  const model::Estimate counted = model::Wilson(part.samples, whole.samples);
  if (!(counted.value > 0)) return {share, std::min(0.0, share), std::max(share, counted.high)};
  // A weighted metric has the interval of the number of samples, scaled by what one sample weighs.
  const model::Estimate weighted = model::Scaled(counted, share / counted.value);
  return {share, weighted.low, std::clamp(weighted.high, share, std::max(share, 1.0))};
}

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

Result<FlatAndContext> CompareWithin(model::Source& source, const CompareOptions& options) {
  Result<model::Forest> forest = Load(source, options.metric);
  if (!forest) return std::unexpected(forest.error());
  FlatAndContext flat;
  flat.side = SideOf(source, *forest);
  model::JointTreeBuilder builder(/*folded=*/std::nullopt);
  builder.Add(*forest, 0);
  flat.tree = builder.Take();
  MeasureSide(flat.tree, 0, flat.side);
  if (auto good = CheckSide(flat.side); !good) return std::unexpected(good.error());
  FlatLists lists(flat, options.top);
  flat.by_self = lists.Hottest(kBySelf);
  flat.by_all = lists.Hottest(kByAll);
  flat.hidden = lists.Hidden();
  return flat;
}

Result<Comparison> CompareTwo(model::Source& a, model::Source& b, const CompareOptions& options) {
  Comparison comparison;
  comparison.absolute = options.absolute;
  const std::array<std::string, 2> metrics = MetricsOf(a, b, options.metric);
  std::array<model::Forest, 2> forests;
  for (size_t side = 0; side < 2; ++side) {
    model::Source& source = side == 0 ? a : b;
    Result<model::Forest> forest = Load(source, metrics[side]);
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
  return comparison;
}

}  // namespace jprof::reports
