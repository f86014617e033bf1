#include "reports/combined/combined_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

namespace jprof::reports {
namespace {

class CombinedWalk {
 public:
  using Visitor = std::function<bool(const CombinedRow&)>;

  CombinedWalk(const model::CombinedView& view, const Options& options)
      : view_(view),
        tree_(view.tree),
        form_(options.names),
        shown_names_(options.for_people() ? tree_.names.size() : 0),
        weights_(Weights(tree_)),
        outline_(tree_.contexts, kRoots, options, weights_,
                 [](model::NodeIndex, double) { return false; }) {}

  double Run(const Visitor& visit) {
    outline_.Visit(
        0, [&](model::NodeIndex context, Place place) { return visit(RowOf(context, place)); },
        [&](model::NodeIndex parent, Place place) { return visit(Rest(parent, place)); });
    return outline_.percent();
  }

 private:
  static constexpr std::array<model::NodeIndex, 1> kRoots = {0};

  static std::vector<double> Weights(const model::CombinedTree& tree) {
    std::vector<double> weights(tree.contexts.size());
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = model::Sum(tree.AllSamples(i));
    return weights;
  }

  void AddTo(CombinedRow& row, model::NodeIndex context) const {
    row.calls += tree_.contexts[context].calls;
    row.counted_ns += tree_.contexts[context].counted_ns;
    row.counted_error += tree_.contexts[context].counted_error;
    for (size_t run = 0; run < tree_.runs; ++run) row.samples[run] += tree_.Samples(context, run);
  }

  CombinedRow Empty() const {
    CombinedRow row;
    row.samples.resize(tree_.runs);
    row.all_samples.resize(tree_.runs);
    return row;
  }

  CombinedRow RowOf(model::NodeIndex index, Place place) {
    const model::CombinedContext& context = tree_.contexts[index];
    CombinedRow row = Empty();
    row.id = index + 1;
    row.parent = context.parent + 1;
    row.level = context.level;
    row.place = place;
    row.type = index == 0 ? 'T' : context.type;
    row.name = index == 0 ? "(all threads)" : std::string_view(tree_.names[context.name]);
    row.shown_name = context.is_java && index != 0 ? ShownName(context.name) : row.name;
    row.is_java = context.is_java;
    row.estimated_time = view_.estimated_own[index];
    row.estimated_all = view_.estimated_all[index];
    row.counted = context.counted;
    AddTo(row, index);
    const std::span all = tree_.AllSamples(index);
    row.all_samples.assign(all.begin(), all.end());
    row.counted_all = tree_.counted_all[index];
    row.times = model::TimesOf(view_, index);
    row.is_estimated = model::IsEstimated(view_, index);
    row.outermost_calls = tree_.OutermostCalls(index);
    return row;
  }

  // Returns the name in the form of the options, which is made once.
  std::string_view ShownName(uint32_t name) {
    if (shown_names_.empty()) return tree_.names[name];
    if (shown_names_[name].empty()) shown_names_[name] = model::MethodIn(form_, tree_.names[name]);
    return shown_names_[name];
  }

  CombinedRow Rest(model::NodeIndex parent, Place place) {
    CombinedRow row = Empty();
    const auto add = [&](model::NodeIndex context) {
      ++row.hidden;
      AddTo(row, context);
      row.counted |= tree_.contexts[context].counted;
    };
    model::VisitHidden(
        tree_.contexts, parent,
        [this](model::NodeIndex context) { return outline_.Hides(context); }, add);
    row.all_samples = row.samples;
    row.counted_all = row.counted_ns;
    row.id = static_cast<uint32_t>(tree_.contexts.size()) + ++hidden_rows_;
    row.parent = parent + 1;
    row.level = tree_.contexts[parent].level + 1;
    row.type = ' ';
    row.place = place;
    hidden_name_ = fmt::format("(hidden: {} rows)", row.hidden);
    row.name = row.shown_name = hidden_name_;
    const model::Estimate time = view_.times->Of(row.samples, model::Part::kAll);
    row.times = {
        .own = time, .all = time, .share = view_.times->ShareOf(row.samples, model::Part::kAll)};
    return row;
  }

  const model::CombinedView& view_;
  const model::CombinedTree& tree_;
  model::NameForm form_;
  std::vector<std::string> shown_names_;  // by name; empty if text is not what is written
  std::vector<double> weights_;
  Outline<std::vector<model::CombinedContext>> outline_;
  uint32_t hidden_rows_ = 0;
  std::string hidden_name_;
};

}  // namespace

void OrderCombined(model::CombinedTree& tree, const Options& options) {
  if (options.sort == model::Sort::kFirst) return;
  const auto key = [&](model::NodeIndex context) -> std::pair<double, double> {
    const auto calls = static_cast<double>(tree.contexts[context].calls);
    const double weight = model::Sum(tree.AllSamples(context));
    if (options.sort == model::Sort::kCalls) return {calls, weight};
    const bool by_base = options.sort == model::Sort::kBase;
    return {by_base ? model::Sum(tree.OwnSamples(context)) : weight, calls};
  };
  model::SortSiblings(tree.contexts, [&](std::vector<model::NodeIndex> siblings) {
    std::ranges::stable_sort(
        siblings, [&](model::NodeIndex a, model::NodeIndex b) { return key(a) > key(b); });
    return siblings;
  });
}

double VisitCombined(const model::CombinedView& view, const Options& options,
                     const std::function<bool(const CombinedRow&)>& visit) {
  return CombinedWalk(view, options).Run(visit);
}

}  // namespace jprof::reports
