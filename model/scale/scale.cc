#include "model/scale/scale.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/combined/shrinkage.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

// The amounts of one size, by context or by method.
struct Amounts {
  size_t runs = 0;                                // sampled
  std::vector<double> calls, samples, estimated;  // samples: [id * runs + run]; estimated: ns

  void Resize(size_t ids) {
    calls.resize(ids);
    samples.resize(ids * runs);
    estimated.resize(ids);
  }
  std::span<double> SamplesOf(size_t id) { return std::span(samples).subspan(id * runs, runs); }
  std::span<const double> SamplesOf(size_t id) const {
    return std::span(samples).subspan(id * runs, runs);
  }
  void Add(size_t id, double call_count, std::span<const double> run_samples, double ns) {
    calls[id] += call_count;
    for (size_t run = 0; run < runs; ++run) SamplesOf(id)[run] += run_samples[run];
    estimated[id] += ns;
  }
};

struct Size {
  CombinedView view;
  Amounts contexts, methods;
};

// Matches the contexts of the sizes. What was not counted, such as native functions, is added to
// its caller.
class Matching {
 public:
  explicit Matching(ScaleView& view) : view_(view) {}

  void Add(Size& size) {
    const CombinedTree& tree = size.view.tree;
    size.contexts.runs = size.methods.runs = tree.runs;
    std::vector<NodeIndex> place(tree.contexts.size());
    for (NodeIndex i = 1; i < tree.contexts.size(); ++i) {
      const CombinedContext& context = tree.contexts[i];
      place[i] = place[context.parent];
      if (context.calls > 0) place[i] = Child(place[i], NameOf(tree.names[context.name]));
    }
    size.contexts.Resize(view_.contexts.size());
    for (NodeIndex i = 0; i < tree.contexts.size(); ++i) {
      size.contexts.Add(place[i], static_cast<double>(tree.contexts[i].calls), tree.OwnSamples(i),
                        size.view.estimated_own.empty() ? 0 : size.view.estimated_own[i]);
    }
  }

  void SumMethods(Size& size) const {
    size.contexts.Resize(view_.contexts.size());
    size.methods.Resize(view_.names.size());
    for (NodeIndex i = 1; i < view_.contexts.size(); ++i) {
      size.methods.Add(view_.contexts[i].name, size.contexts.calls[i], size.contexts.SamplesOf(i),
                       size.contexts.estimated[i]);
    }
  }

 private:
  uint32_t NameOf(const std::string& name) {
    const auto [entry, is_new] = names_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (is_new) view_.names.push_back(name);
    return entry->second;
  }

  NodeIndex Child(NodeIndex parent, uint32_t name) {
    const NodeIndex child = children_.Child(view_.contexts, parent, name);
    if (child == view_.contexts.size()) {
      ScaleContext& context = view_.contexts.emplace_back();
      context.parent = parent;
      context.name = name;
    }
    return child;
  }

  ScaleView& view_;
  std::unordered_map<std::string, uint32_t> names_;
  ChildMap children_;  // by name
};

Result<CombinedView> Load(Combined& run) {
  return run.sampled.empty() ? LoadCounted(run) : LoadCombined(run);
}

// Makes the rows of contexts or of methods.
class RowMaker {
 public:
  RowMaker(const ScaleView& view, std::span<const Size> sizes, Amounts Size::*amounts)
      : view_(view), sizes_(sizes), amounts_(amounts) {
    const Amounts& last = sizes_.back().contexts;
    const std::vector<double>& parts = view_.has_times ? last.estimated : last.calls;
    whole_ = std::accumulate(parts.begin(), parts.end(), 0.0);
  }

  ScaleRow Row(uint32_t id) const {
    ScaleRow row;
    std::vector<SizedTime> known;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const Amounts& at = sizes_[i].*amounts_;
      row.calls.push_back(at.calls[id]);
      if (!view_.has_times) continue;
      row.times.push_back(sizes_[i].view.times->Of(at.SamplesOf(id), Part::kOwn));
      const auto time = TimeAt(view_.sizes[i], row.times.back());
      if (time && Sum(at.SamplesOf(id)) >= kFewSamples) known.push_back(*time);
    }
    row.law = FitCounts(view_.sizes, row.calls);
    row.time_exponent = FitTimes(known);
    const Amounts& last = sizes_.back().*amounts_;
    const double part = view_.has_times ? last.estimated[id] : last.calls[id];
    row.share = whole_ > 0 ? part / whole_ : 0;
    row.share_farther = row.share * GrowthOf(row);
    return row;
  }

 private:
  // Returns by how much the row grows up to kFarther times the largest size.
  double GrowthOf(const ScaleRow& row) const {
    if (row.time_exponent && row.time_exponent->high - row.time_exponent->value <= kUsableArm)
      return std::pow(kFarther, row.time_exponent->value);
    return row.law ? row.law->At(view_.farther()) / row.law->At(view_.sizes.back()) : 1;
  }

  const ScaleView& view_;
  std::span<const Size> sizes_;
  Amounts Size::*amounts_;
  double whole_ = 0;
};

// Makes the shares at the farther size parts of their whole.
void Normalise(std::vector<ScaleRow>& contexts) {
  double whole = 0;
  for (const ScaleRow& row : contexts) whole += row.share_farther;
  for (ScaleRow& row : contexts) row.share_farther /= whole > 0 ? whole : 1;
}

bool IsBefore(const ScaleRow& a, const ScaleRow& b) {
  return std::pair(a.share_farther, a.calls.back()) > std::pair(b.share_farther, b.calls.back());
}

void AddRows(std::span<const Size> sizes, ScaleView& view) {
  const RowMaker of_contexts(view, sizes, &Size::contexts);
  std::vector<ScaleRow> contexts;
  for (NodeIndex i = 1; i < view.contexts.size(); ++i) {
    ScaleRow& row = contexts.emplace_back(of_contexts.Row(i));
    row.name = view.contexts[i].name;
    row.context = i;
    row.is_part = true;
  }
  Normalise(contexts);
  std::ranges::stable_sort(contexts, IsBefore);
  std::vector<std::vector<size_t>> of_method(view.names.size());
  for (size_t i = 0; i < contexts.size(); ++i) of_method[contexts[i].name].push_back(i);
  const RowMaker of_methods(view, sizes, &Size::methods);
  std::vector<ScaleRow> methods;
  for (uint32_t name = 0; name < view.names.size(); ++name) {
    ScaleRow& row = methods.emplace_back(of_methods.Row(name));
    row.name = name;
    row.contexts = of_method[name].size();
    row.share_farther = 0;
    for (const size_t context : of_method[name])
      row.share_farther += contexts[context].share_farther;
  }
  std::ranges::stable_sort(methods, IsBefore);
  for (const ScaleRow& method : methods) {
    view.rows.push_back(method);
    if (method.contexts == 1)
      view.rows.back().context = contexts[of_method[method.name][0]].context;
    if (method.contexts < 2) continue;
    for (const size_t context : of_method[method.name]) view.rows.push_back(contexts[context]);
  }
}

}  // namespace

Result<ScaleView> LoadScale(Scale& scale) {
  ScaleView view;
  std::vector<Size> sizes;
  Matching matching(view);
  view.has_times = true;
  for (size_t i = 0; i < scale.runs.size(); ++i) {
    auto loaded = Load(scale.runs[i]);
    if (!loaded) return std::unexpected(loaded.error());
    view.sizes.push_back(static_cast<double>(scale.meta.sizes[i]));
    view.counted.push_back(loaded->counted);
    view.has_times = view.has_times && loaded->times;
    matching.Add(sizes.emplace_back(Size{.view = *std::move(loaded)}));
  }
  for (Size& size : sizes) matching.SumMethods(size);
  AddRows(sizes, view);
  const auto is_fitted = [](const ScaleRow& row) { return row.law.has_value(); };
  if (std::ranges::any_of(view.rows, is_fitted)) return view;
  return WrongUse(
      "{}: no method was counted in two sizes; run more of them: jprof scale --sizes "
      "1000,2000,4000,8000 -- CMD {{n}}",
      profile::CleanText(scale.directory));
}

}  // namespace jprof::model
