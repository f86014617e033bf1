#include "reports/assistant/call_graph.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "model/combined/shrinkage.h"
#include "model/tree/joint_tree.h"
#include "model/tree/readable_name.h"
#include "profile/files/printable_text.h"
#include "reports/combined/combined_report.h"
#include "reports/compare/side.h"
#include "reports/quality/quality_of.h"
#include "reports/tree/metric_head.h"

namespace jprof::reports::assistant {
namespace {

using model::NodeIndex;

constexpr char kThreads[] = "(threads)";

class Builder {
 public:
  // Contexts have `width` numbers, of which the first `inclusive` also add up over callees.
  explicit Builder(size_t width, size_t inclusive) : inclusive_(inclusive) {
    graph_.width = width;
    AddContext(model::kNoNode, NameOf(kThreads));
  }

  // Returns the number of a name.
  uint32_t NameOf(const std::string& text) {
    const auto [name, is_new] = names_.try_emplace(text, static_cast<uint32_t>(names_.size()));
    if (is_new) graph_.names.push_back(text);
    return name->second;
  }
  // Does the same for the method that the input knows by a number: its name is made once.
  template <typename MakeName>
  uint32_t NameOf(uint32_t method, const MakeName& make) {
    const auto [name, is_new] = name_of_.try_emplace(method, 0);
    if (is_new) name->second = NameOf(std::string(make()));
    return name->second;
  }

  NodeIndex AddContext(NodeIndex parent, uint32_t name) {
    CallContext& context = graph_.contexts.emplace_back();
    context.parent = parent;
    context.name = name;
    graph_.own.resize(graph_.contexts.size() * graph_.width);
    return static_cast<NodeIndex>(graph_.contexts.size() - 1);
  }
  void AddCalls(NodeIndex context, uint64_t calls, std::optional<uint64_t> outermost) {
    graph_.contexts[context].calls += calls;
    graph_.contexts[context].outermost_calls = outermost;
    graph_.has_calls |= calls > 0;
  }
  void AddOwn(NodeIndex context, size_t number, double value) {
    graph_.own[context * graph_.width + number] += value;
  }

  CallGraph Take() {
    model::LinkNodes(graph_.contexts);
    graph_.all = graph_.own;
    for (size_t i = graph_.contexts.size(); i-- > 1;) {
      const size_t at = i * graph_.width, parent = graph_.contexts[i].parent * graph_.width;
      for (size_t number = 0; number < inclusive_; ++number)
        graph_.all[parent + number] += graph_.all[at + number];
    }
    return std::move(graph_);
  }

 private:
  size_t inclusive_;
  CallGraph graph_;
  std::unordered_map<std::string, uint32_t> names_;
  std::unordered_map<uint32_t, uint32_t> name_of_;  // by the input's number
};

// The numbers of a context of a profile.
constexpr size_t kValue = 0, kSamples = 1, kError = 2, kAmountWidth = 3;

model::Amount AmountOf(std::span<const double> numbers) {
  return {.value = numbers[kValue], .samples = numbers[kSamples], .error = numbers[kError]};
}

CallValues ValuesIn(const Side& side, const CallSum& sum) {
  const model::Amount own = AmountOf(sum.own), all = AmountOf(sum.all);
  return {.own = {AbsoluteOf(side, own)},
          .all = {AbsoluteOf(side, all)},
          .own_share = ShareOf(side, own, side.inside),
          .share = ShareOf(side, all, side.inside)};
}

CallGraph GraphOf(const model::Source& source, model::Forest& forest) {
  const bool has_values = !forest.metrics.empty();
  const size_t width = has_values ? kAmountWidth : 0;
  Builder builder(width, width);
  const std::vector<model::Row>& rows = forest.rows.rows;
  const bool folded = model::IsFolded(source);
  std::vector<NodeIndex> context_of(rows.size());
  Side side = has_values ? SideOf(source, forest) : Side();
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_root = rows[i].parent == model::kNoNode;
    NodeIndex context = 0;
    if (!is_root) {
      const uint32_t name = builder.NameOf(IndexOf(rows[i].method), [&] {
        return forest.names.In(model::NameForm::kFull, rows[i].method);
      });
      context = builder.AddContext(context_of[rows[i].parent], name);
    }
    context_of[i] = context;
    if (!is_root)
      builder.AddCalls(context, rows[i].calls,
                       folded ? std::nullopt : std::optional(rows[i].calls));
    if (!has_values) continue;
    const model::Amount amount = model::AmountOf(forest, i);
    builder.AddOwn(context, kValue, amount.value);
    builder.AddOwn(context, kSamples, amount.samples);
    builder.AddOwn(context, kError, amount.error);
    (is_root ? side.outside : side.inside) += amount;
  }
  CallGraph graph = builder.Take();
  graph.unit = side.unit;
  graph.metric = side.metric;
  graph.values = [side = std::move(side)](const CallSum& sum) { return ValuesIn(side, sum); };
  return graph;
}

Result<CallGraph> Load(model::Source& source, const std::string& metric) {
  const auto& metrics = source.reader.meta().metrics;
  auto forest = model::LoadForest(
      source, {.merged = true,
               .metric = metric.empty() && !metrics.empty() ? metrics.front().name : metric});
  if (!forest) return std::unexpected(forest.error());
  CallGraph graph = GraphOf(source, *forest);
  graph.head = ForestHead(source, *forest, "");
  graph.quality = QualityOf(source, *forest);
  return graph;
}

// The numbers of a context of a combined profile are the samples of each run, the estimated time,
// and the samples of its caller in each run if its time may have been attributed to the caller.
CallValues ValuesIn(const model::CombinedView& view, const CallSum& sum) {
  const model::TimeModel& times = *view.times;
  const size_t runs = view.tree.runs;
  const bool few = sum.calls > 0 && model::Sum(std::span(sum.all).first(runs)) < model::kFewSamples;
  const auto put = [&](std::span<const double> numbers, model::Part part, ShownTime& time,
                       model::Estimate& share) {
    const auto samples = numbers.first(runs), hidden = numbers.last(runs);
    time = {times.Of(samples, part), few, numbers[runs]};
    share = times.ShareOf(samples, part);
    if (!(model::Sum(hidden) > 0)) return;
    time.sampled.high += times.Of(hidden, model::Part::kOwn).high;
    share.high = std::min(1.0, share.high + times.ShareOf(hidden, model::Part::kOwn).high);
  };
  CallValues values;
  put(sum.own, model::Part::kOwn, values.own, values.own_share);
  put(sum.all, model::Part::kAll, values.all, values.share);
  // Contexts alone take no longer than with all that they called, unless one is below another.
  if (sum.outermost_calls == sum.calls)
    values.own.sampled.high = std::min(values.own.sampled.high, values.all.sampled.high);
  return values;
}

CallGraph GraphOf(const model::CombinedView& view) {
  const model::CombinedTree& tree = view.tree;
  Builder builder(2 * tree.runs + 1, tree.runs + 1);
  for (NodeIndex i = 0; i < tree.contexts.size(); ++i) {
    const model::CombinedContext& context = tree.contexts[i];
    if (i > 0) {
      const uint32_t name = builder.NameOf(context.name, [&] {
        const std::string& text = tree.names[context.name];
        return profile::CleanText(context.is_java ? model::MethodIn(model::NameForm::kFull, text)
                                                  : text);
      });
      builder.AddContext(context.parent, name);
      builder.AddCalls(i, context.calls, tree.OutermostCalls(i));
    }
    const bool hides = model::MayHideInCaller(tree, i);
    for (size_t run = 0; run < tree.runs; ++run) {
      builder.AddOwn(i, run, tree.Samples(i, run));
      if (hides) builder.AddOwn(i, tree.runs + 1 + run, tree.Samples(context.parent, run));
    }
    builder.AddOwn(i, tree.runs, view.estimated_own[i]);
  }
  return builder.Take();
}

Result<CallGraph> Load(model::Combined& combined, const std::string& metric) {
  if (!metric.empty() && metric != "time") {
    return WrongUse(
        "a combined profile has the metric time and no other; other metrics are in its "
        "runs: {}",
        model::RunPaths(combined.directory));
  }
  auto loaded = model::LoadCombined(combined);
  if (!loaded) return std::unexpected(loaded.error());
  const auto view = std::make_shared<model::CombinedView>(*std::move(loaded));
  CallGraph graph = GraphOf(*view);
  graph.unit = "ns";
  graph.metric = "time";
  graph.values = [view](const CallSum& sum) { return ValuesIn(*view, sum); };
  graph.head = CombinedHead(combined, *view);
  graph.quality = QualityOf(combined, *view);
  return graph;
}

// Loads what has exact values, such as a trace of instructions.
Result<CallGraph> LoadExact(model::Input& input, const std::string& metric) {
  if (!model::HasContexts(input)) {
    return WrongUse("{} is {}, which has no tree of calls; of the tools only quality reads it",
                    profile::CleanText(model::ShownNameOf(input)),
                    model::NameOf(model::KindOf(input)));
  }
  const auto tree = model::LoadContexts(input, {.merged = true, .metric = metric});
  if (!tree) return std::unexpected(tree.error());
  auto quality = LoadQuality(input);
  if (!quality) return std::unexpected(quality.error());
  const auto calls =
      std::ranges::find(tree->measures, model::Measure::Kind::kCalls, &model::Measure::kind);
  Builder builder(1, 1);
  std::vector<NodeIndex> context_of(tree->nodes.size());
  for (size_t i = 0; i < tree->nodes.size(); ++i) {
    const model::ContextNode& node = tree->nodes[i];
    if (node.parent != model::kNoNode) {
      const uint32_t name = builder.NameOf(model::IndexOf(node.frame), [&] {
        const model::ExportFrame& frame = tree->FrameOf(node);
        return frame.kind == model::ExportFrame::Kind::kJava
                   ? model::MethodIn(model::NameForm::kFull, frame.full)
                   : frame.full;
      });
      context_of[i] = builder.AddContext(context_of[node.parent], name);
      if (calls != tree->measures.end()) {
        const auto count = static_cast<uint64_t>(tree->Value(i, calls - tree->measures.begin()));
        builder.AddCalls(context_of[i], count, count);
      }
    }
    builder.AddOwn(context_of[i], 0, static_cast<double>(tree->Value(i, tree->preferred)));
  }
  CallGraph graph = builder.Take();
  graph.unit = tree->measures[tree->preferred].unit;
  graph.metric = tree->measures[tree->preferred].name;
  graph.values = [whole = graph.all.front()](const CallSum& sum) {
    const auto exact = [](double value) { return model::Estimate{value, value, value}; };
    const auto share = [&](double value) { return exact(whole > 0 ? value / whole : 0); };
    return CallValues{.own = {exact(sum.own[0])},
                      .all = {exact(sum.all[0])},
                      .own_share = share(sum.own[0]),
                      .share = share(sum.all[0])};
  };
  graph.head = {.directory = std::string(model::ShownNameOf(input)),
                .lines = {{"command", tree->run.command}, {"values", graph.metric + ", exact"}}};
  graph.quality = *std::move(quality);
  return graph;
}

}  // namespace

Result<CallGraph> LoadCallGraph(model::Input& input, const std::string& metric) {
  auto graph = [&] {
    if (auto* source = std::get_if<model::Source>(&input)) return Load(*source, metric);
    if (auto* combined = std::get_if<model::Combined>(&input)) return Load(*combined, metric);
    return LoadExact(input, metric);
  }();
  if (graph) graph->head.of = profile::CleanText(model::ShownNameOf(input));
  return graph;
}

void CallGraph::AddTo(CallSum& sum, NodeIndex context, bool outermost) const {
  const CallContext& from = contexts[context];
  sum.calls += from.calls;
  ++sum.contexts;
  sum.own.resize(width);
  sum.all.resize(width);
  for (size_t number = 0; number < width; ++number) {
    sum.own[number] += own[context * width + number];
    if (outermost) sum.all[number] += all[context * width + number];
  }
  if (!from.outermost_calls) {
    sum.outermost_calls.reset();
  } else if (outermost && sum.outermost_calls) {
    *sum.outermost_calls += *from.outermost_calls;
  }
}

}  // namespace jprof::reports::assistant
