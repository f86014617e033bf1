#include "reports/gate/verdict.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "common/nearest.h"
#include "model/tree/readable_name.h"
#include "reports/gate/steady.h"

namespace jprof::reports {
namespace {

using model::NodeIndex;

constexpr double kRounding = 1e-9;  // of a value

std::vector<bool> MatchesByName(const model::JointTree& tree, const MethodPattern& pattern) {
  std::vector<bool> matches;
  for (const std::string& name : tree.names) {
    const model::MethodParts parts = model::PartsOfMethod(name);
    matches.push_back(pattern.matches(parts.class_name, parts.name));
  }
  return matches;
}

// Suggests the method that is nearest to a pattern that matches none.
std::unexpected<Error> MatchesNone(const model::JointTree& tree, const Condition& condition,
                                   const MethodPattern& pattern) {
  std::set<std::string> names;
  for (const std::string& name : tree.names) {
    std::string method(name.substr(0, name.find('(')));
    std::ranges::replace(method, '/', '.');
    names.insert(std::move(method));
  }
  const std::vector<std::string_view> choices(names.begin(), names.end());
  const auto nearest = Nearest(pattern.text, choices);
  return WrongUse("--fail-if '{}': no method of either profile matches '{}'{}", condition.text,
                  pattern.text, nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
}

// Returns which contexts a condition is about.
Result<std::vector<bool>> SelectedBy(const GateData& data, const Condition& condition) {
  const model::JointTree& tree = data.tree;
  std::vector<bool> selected(tree.contexts.size(), true);
  const auto matches = [&](const MethodPattern& pattern) -> Result<std::vector<bool>> {
    std::vector<bool> names = MatchesByName(tree, pattern);
    if (condition.kind != Condition::Kind::kValue && std::ranges::count(names, true) == 0)
      return MatchesNone(tree, condition, pattern);
    return names;
  };
  if (condition.in) {
    const auto names = matches(*condition.in);
    if (!names) return std::unexpected(names.error());
    selected[0] = false;
    for (NodeIndex i = 1; i < selected.size(); ++i)
      selected[i] = (*names)[tree.contexts[i].name] || selected[tree.contexts[i].parent];
  }
  if (condition.of) {
    const auto names = matches(*condition.of);
    if (!names) return std::unexpected(names.error());
    selected[0] = false;
    for (NodeIndex i = 1; i < selected.size(); ++i)
      selected[i] = selected[i] && (*names)[tree.contexts[i].name];
  }
  if (condition.each != Condition::Each::kNone) selected[0] = false;
  return selected;
}

// What the runs of both profiles have of something.
struct GateSum {
  uint32_t name = 0;
  NodeIndex context = model::kNoNode;
  std::array<std::vector<double>, 2> values, errors;
};

// Adds up what is selected: together, by method or by context.
class GateSums {
 public:
  GateSums(const GateData& data, const GateMetric& metric, Condition::Each each)
      : data_(data), metric_(metric), each_(each) {}

  std::vector<GateSum> Of(const std::vector<bool>& selected, const Steady* steady) {
    if (each_ == Condition::Each::kNone) sums_.push_back(New(0, model::kNoNode));
    place_.assign(data_.tree.names.size(), kNowhere);
    for (NodeIndex i = 0; i < selected.size(); ++i) {
      if (selected[i] && (steady == nullptr || steady->IsSteady(i))) Add(i);
    }
    if (steady == nullptr || each_ == Condition::Each::kContext) return std::move(sums_);
    for (const auto& [name, values] : steady->MovedOf(selected)) {
      GateSum& sum = At(name, model::kNoNode);
      for (size_t side = 0; side < 2; ++side)
        for (double& value : sum.values[side]) value += values[side];
    }
    return std::move(sums_);
  }

 private:
  static constexpr size_t kNowhere = ~size_t{0};

  GateSum New(uint32_t name, NodeIndex context) const {
    GateSum sum = {.name = name, .context = context, .values = {}, .errors = {}};
    for (size_t side = 0; side < 2; ++side) {
      sum.values[side].resize(metric_.runs[side].size());
      sum.errors[side].resize(metric_.runs[side].size());
    }
    return sum;
  }

  GateSum& At(uint32_t name, NodeIndex context) {
    if (each_ == Condition::Each::kNone) return sums_.front();
    if (each_ == Condition::Each::kContext) return sums_.emplace_back(New(name, context));
    if (place_[name] == kNowhere) {
      place_[name] = sums_.size();
      sums_.push_back(New(name, model::kNoNode));
    }
    return sums_[place_[name]];
  }

  void Add(NodeIndex context) {
    GateSum& sum = At(data_.tree.contexts[context].name, context);
    for (size_t side = 0; side < 2; ++side) {
      for (size_t run = 0; run < sum.values[side].size(); ++run) {
        const RunValues& values = metric_.runs[side][run];
        sum.values[side][run] += values.values[context];
        if (values.errors.empty()) continue;
        double& error = sum.errors[side][run];
        error = metric_.is_sampled ? std::hypot(error, values.errors[context])
                                   : error + values.errors[context];
      }
    }
  }

  const GateData& data_;
  const GateMetric& metric_;
  Condition::Each each_;
  std::vector<GateSum> sums_;
  std::vector<size_t> place_;  // in `sums_`, by name
};

model::Estimate MeanRun(const GateData& data, const GateMetric& metric, const GateSum& sum,
                        size_t side, model::Part part) {
  const std::vector<double>& values = sum.values[side];
  if (metric.kind == GateMetric::Kind::kExact) return {values[0], values[0], values[0]};
  const GateSide& of = data.sides[side];
  if (metric.kind == GateMetric::Kind::kTime) return of.times->Of(values, part);
  model::Estimate mean = model::MeanOf(values, of.usual.total);
  double error = 0;
  for (const double one : sum.errors[side]) error += one / static_cast<double>(values.size());
  const double arm = std::hypot(mean.value - mean.low, model::kDeviations95 * error);
  return {mean.value, mean.value - arm, mean.value + arm};
}

GateItem ItemOf(const GateData& data, const GateMetric& metric, const GateSum& sum,
                model::Part part) {
  GateItem item = {.name = sum.name, .context = sum.context, .change = {}};
  GateChange& change = item.change;
  change.base = MeanRun(data, metric, sum, 0, part);
  change.now = MeanRun(data, metric, sum, 1, part);
  change.absolute = model::Change(change.base, change.now);
  change.relative = model::RelativeChange(change.base, change.now);
  return item;
}

bool IsExact(const model::Estimate& value) { return value.low == value.high; }

// A condition is violated if the whole interval is above its bound. Exact numbers are compared as
// they are: of billions of calls one more is less than a rounding of their relative change.
bool IsViolated(const Condition& condition, const GateChange& change) {
  switch (condition.kind) {
    case Condition::Kind::kPercent:
      if (condition.bound == 0 && IsExact(change.base) && IsExact(change.now))
        return change.now.value > change.base.value;
      return change.relative.low > condition.bound + kRounding;
    case Condition::Kind::kChange:
      return change.absolute.low > condition.bound + kRounding * std::abs(condition.bound);
    case Condition::Kind::kValue:
      return change.now.low > condition.bound + kRounding * std::abs(condition.bound);
  }
  return false;
}

// Puts the surest and greatest growth first, and keeps `top` of those that are wanted.
template <typename Wanted>
std::vector<GateItem> Worst(std::vector<GateItem> items, size_t top, const Wanted& wanted) {
  std::erase_if(items, [&](const GateItem& item) { return !wanted(item.change); });
  std::ranges::stable_sort(items, [](const GateItem& a, const GateItem& b) {
    const auto key = [](const GateChange& change) {
      return std::pair(!(change.absolute.low > 0), -change.absolute.value);
    };
    return key(a.change) < key(b.change);
  });
  if (items.size() > top) items.resize(top);
  return items;
}

class Judgement {
 public:
  Judgement(const GateData& data, size_t top) : data_(data), top_(top) {}

  Result<ConditionVerdict> Of(const Condition& condition) {
    const auto metric = MetricOf(condition);
    if (!metric) return std::unexpected(metric.error());
    const auto selected = SelectedBy(data_, condition);
    if (!selected) return std::unexpected(selected.error());
    ConditionVerdict verdict = {.condition = condition, .metric = *metric};
    const Steady* steady = SteadyOf(**metric);
    const auto items = [&](Condition::Each each) {
      return Items(**metric, condition, each, *selected, steady);
    };
    const auto violates = [&](const GateChange& change) { return IsViolated(condition, change); };
    const auto grows = [](const GateChange& change) { return change.absolute.value > 0; };
    if (condition.each == Condition::Each::kNone) {
      verdict.change = items(Condition::Each::kNone).front().change;
      verdict.violated = violates(verdict.change);
      if (!verdict.violated) return verdict;
      verdict.methods = Worst(items(Condition::Each::kMethod), top_, grows);
      verdict.contexts = Worst(items(Condition::Each::kContext), top_, grows);
      return verdict;
    }
    std::vector<GateItem> each = items(condition.each);
    verdict.compared = each.size();
    verdict.violating =
        static_cast<size_t>(std::ranges::count_if(each, violates, &GateItem::change));
    verdict.violated = verdict.violating > 0;
    const bool by_method = condition.each == Condition::Each::kMethod;
    (by_method ? verdict.methods : verdict.contexts) = Worst(std::move(each), top_, violates);
    if (by_method && verdict.violated) {
      const auto is_listed = [&](const GateItem& item) {
        return std::ranges::count(verdict.methods, item.name, &GateItem::name) > 0;
      };
      std::vector<GateItem> contexts = items(Condition::Each::kContext);
      std::erase_if(contexts, [&](const GateItem& item) { return !is_listed(item); });
      verdict.contexts = Worst(std::move(contexts), top_, grows);
    }
    return verdict;
  }

  std::vector<GateKeptOut> KeptOut() const {
    std::vector<GateKeptOut> kept_out;
    for (const auto& steady : steady_) kept_out.push_back(steady->KeptOut());
    return kept_out;
  }

 private:
  Result<const GateMetric*> MetricOf(const Condition& condition) const {
    const GateMetric* metric = data_.Find(condition.metric);
    if (metric == nullptr) {
      std::vector<std::string_view> names;
      for (const GateMetric& one : data_.metrics) names.push_back(one.name);
      const auto nearest = Nearest(condition.metric, names);
      return WrongUse("--fail-if '{}': neither profile has a metric '{}'{}; they have: {}",
                      condition.text, condition.metric,
                      nearest ? fmt::format("; did you mean '{}'?", *nearest) : "",
                      fmt::join(names, ", "));
    }
    for (size_t side = 0; side < 2; ++side) {
      if (metric->IsIn(side)) continue;
      return WrongUse("--fail-if '{}': {} has no {}, {} has; record both in the same way",
                      condition.text, data_.sides[side].directory, condition.metric,
                      data_.sides[1 - side].directory);
    }
    if (condition.kind == Condition::Kind::kPercent || condition.bound == 0) return metric;
    if (condition.unit.empty() && metric->unit == "ns") {
      return WrongUse("--fail-if '{}': {} is a time: write {}ms, or another unit", condition.text,
                      condition.metric, condition.bound_text);
    }
    if (!condition.unit.empty() && condition.unit != metric->unit) {
      return WrongUse("--fail-if '{}': {} is not in {}{}", condition.text, condition.metric,
                      condition.unit,
                      metric->unit.empty() ? "" : fmt::format(" but in {}", metric->unit));
    }
    return metric;
  }

  // Returns null for a metric whose runs differ by chance.
  const Steady* SteadyOf(const GateMetric& metric) {
    if (metric.kind != GateMetric::Kind::kExact) return nullptr;
    const auto known = std::ranges::find_if(
        steady_, [&](const auto& steady) { return &steady->metric() == &metric; });
    if (known != steady_.end()) return known->get();
    return steady_.emplace_back(std::make_unique<Steady>(data_, metric)).get();
  }

  // A condition that names methods is also about calls that the JVM makes of them.
  std::vector<GateItem> Items(const GateMetric& metric, const Condition& condition,
                              Condition::Each each, std::vector<bool> selected,
                              const Steady* steady) const {
    for (NodeIndex i = 0; steady != nullptr && !condition.of && i < selected.size(); ++i)
      if (data_.jvm_calls[i] != JvmCall::kNone) selected[i] = false;
    const bool is_alone = condition.of || each != Condition::Each::kNone;
    const model::Part part = is_alone ? model::Part::kOwn : model::Part::kAll;
    std::vector<GateItem> items;
    for (const GateSum& sum : GateSums(data_, metric, each).Of(selected, steady))
      items.push_back(ItemOf(data_, metric, sum, part));
    return items;
  }

  const GateData& data_;
  size_t top_;
  std::vector<std::unique_ptr<Steady>> steady_;
};

}  // namespace

Result<Verdict> Judge(const GateData& data, const std::vector<Condition>& conditions, size_t top) {
  Judgement judgement(data, top);
  Verdict verdict;
  for (const Condition& condition : conditions) {
    auto one = judgement.Of(condition);
    if (!one) return std::unexpected(one.error());
    verdict.violated += one->violated;
    verdict.conditions.push_back(*std::move(one));
  }
  verdict.kept_out = judgement.KeptOut();
  return verdict;
}

}  // namespace jprof::reports
