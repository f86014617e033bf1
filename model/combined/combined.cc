#include "model/combined/combined.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/combined/run_differences.h"
#include "model/combined/shrinkage.h"
#include "model/tree/run_description.h"
#include "model/values/amount.h"
#include "profile/files/printable_text.h"
#include "profile/read/imported.h"
#include "profile/read/losses.h"

namespace jprof::model {
namespace {

using profile::CleanText;

constexpr size_t kNoMetric = CombinedTreeBuilder::kNoMetric;

// Returns the place of the first metric of this kind, or kNoMetric.
size_t Find(const std::vector<profile::Metric>& metrics, bool (profile::Metric::*kind)() const) {
  const auto found = std::ranges::find_if(metrics, kind);
  return found == metrics.end() ? kNoMetric : static_cast<size_t>(found - metrics.begin());
}

// Loads one tree of all threads with one metric, or without metrics.
Result<Forest> Load(Source& source, size_t metric) {
  ForestOptions options;
  options.merged = true;
  if (metric != kNoMetric) options.metric = source.reader.meta().metrics[metric].name;
  return LoadForest(source, options);
}

std::string HowText(const profile::Reader& reader, size_t time_samples) {
  const profile::Meta& meta = reader.meta();
  if (time_samples == kNoMetric) {
    std::string text = meta.mode + (meta.options.fold_recursion ? " with folded recursion" : "");
    if (!meta.probe.kind.empty()) text += ", probe " + meta.probe.kind;
    return text;
  }
  const profile::Metric& metric = meta.metrics[time_samples];
  const auto coverage = profile::CoverageOf(reader.header());
  std::string text = fmt::format(
      "{} stacks per second of CPU time{}", Rounded(1e9 / static_cast<double>(metric.period.value)),
      coverage ? fmt::format(", {:.1f} % of it covered", coverage->Percent()) : "");
  if (const auto imported = profile::ReadImported(reader.directory()))
    text += ", imported from " + imported->Text();
  return text;
}

RunSummary SummaryOf(const Source& source, const profile::Run& run, size_t time_samples) {
  const profile::Reader& reader = source.reader;
  RunSummary summary = {.run = run, .how = HowText(reader, time_samples)};
  summary.cpu_seconds = static_cast<double>(reader.CpuNanos()) / 1e9;
  for (const profile::Loss& loss : profile::Losses(reader)) {
    if (loss.count > 0)
      summary.notes.push_back(fmt::format("lost: {} {}", loss.count, loss.description));
  }
  for (const std::string& damage : reader.damages().Lines())
    summary.notes.push_back("damaged: " + damage);
  return summary;
}

uint64_t JavaMethods(Forest& forest) {
  std::set<profile::MethodId> methods;
  for (const Row& row : forest.rows.rows) {
    if (row.parent != kNoNode && row.method != profile::kOverflowMethod &&
        (forest.names.Parts(row.method).flags & profile::kMethodNotJava) == 0)
      methods.insert(row.method);
  }
  return methods.size();
}

Result<void> AddCounted(Combined& combined, CombinedTreeBuilder& builder, CombinedView& view) {
  Source& source = combined.counted;
  const profile::Meta& meta = source.reader.meta();
  const size_t time = Find(meta.metrics, &profile::Metric::is_time);
  Result<Forest> forest = Load(source, time);
  if (!forest) return std::unexpected(forest.error());
  if (forest->calls == 0)
    return WrongUse("{} has no calls; record it with jprof calltree{}", source.reader.shown(),
                    DamageOf(source));
  view.counted = SummaryOf(source, combined.meta.runs.front(), kNoMetric);
  view.counted.calls = forest->calls;
  view.counted.methods = JavaMethods(*forest);
  view.calibrated = time != kNoMetric && forest->metrics[0].calibrated;
  view.context_of = builder.AddCounted(*forest, time == kNoMetric ? kNoMetric : 0);
  return {};
}

Result<void> AddSampled(Combined& combined, size_t run, CombinedTreeBuilder& builder,
                        CombinedView& view) {
  Source& source = combined.sampled[run];
  const std::vector<profile::Metric>& metrics = source.reader.meta().metrics;
  const size_t metric = Find(metrics, &profile::Metric::is_cpu_samples);
  if (metric == kNoMetric) {
    return WrongUse("{} has no samples by time; record it with jprof scs{}", source.reader.shown(),
                    DamageOf(source));
  }
  const auto period = static_cast<double>(metrics[metric].period.value);
  Result<Forest> forest = Load(source, metric);
  if (!forest) return std::unexpected(forest.error());
  RunSummary summary = SummaryOf(source, combined.meta.runs[run + 1], metric);
  summary.samples = forest->metrics[0].raw;
  summary.methods = JavaMethods(*forest);
  view.sampled.push_back(std::move(summary));
  builder.AddSampled(*forest, run, 0, period);
  return {};
}

void MeasureOverlap(CombinedView& view) {
  const CombinedTree& tree = view.tree;
  double all = 0, uncounted = 0, outside = 0;
  uint64_t calls = 0, unsampled = 0;
  for (size_t i = 0; i < tree.contexts.size(); ++i) {
    const CombinedContext& context = tree.contexts[i];
    const double samples = Sum(tree.OwnSamples(i));
    size_t java = i;  // the Java method that these samples are of or below
    while (!tree.contexts[java].is_java) java = tree.contexts[java].parent;
    all += samples;
    if (java == 0) outside += samples;
    if (java != 0 && !tree.contexts[java].counted) uncounted += samples;
    if (i == 0 || !context.is_java) continue;
    view.counted_contexts += context.counted;
    view.sampled_contexts += context.sampled;
    view.common_contexts += context.counted && context.sampled;
    calls += context.calls;
    if (!context.sampled) unsampled += context.calls;
  }
  view.uncounted = all > 0 ? uncounted / all : 0;
  view.outside = all > 0 ? outside / all : 0;
  view.calls_unsampled =
      calls > 0 ? static_cast<double>(unsampled) / static_cast<double>(calls) : 0;
}

void EstimateFew(CombinedView& view) {
  const CombinedTree& tree = view.tree;
  const size_t size = tree.contexts.size();
  std::vector<NodeIndex> parent(size, kNoNode);
  std::vector<double> samples(size), base(size);
  for (size_t i = 0; i < size; ++i) {
    const CombinedContext& context = tree.contexts[i];
    if (i > 0) parent[i] = context.parent;
    samples[i] = Sum(tree.OwnSamples(i));
    base[i] = std::pow(static_cast<double>(context.calls), kCallsPower);
  }
  view.estimated_own = ShrunkShares(parent, samples, base, kCallsWeight);
  const double whole = view.times->Of(tree.AllSamples(0), Part::kAll).value;
  for (double& value : view.estimated_own) value *= whole;
  view.estimated_all = view.estimated_own;
  AddUpNodes(tree.contexts, view.estimated_all);
}

}  // namespace

bool MayHideInCaller(const CombinedTree& tree, NodeIndex context) {
  // HotSpot inlines no call that was made less often (MinInliningThreshold).
  constexpr uint64_t kLeastCalls = 250;
  const CombinedContext& self = tree.contexts[context];
  if (context == 0 || self.parent == 0 || !self.is_java || self.calls == 0) return false;
  if (!(Sum(tree.OwnSamples(self.parent)) > 0)) return false;
  const CombinedContext& caller = tree.contexts[self.parent];
  const bool could = (caller.type == 'R' || caller.type == 'L') && self.calls >= kLeastCalls;
  return self.type == 'L' || (could && !self.sampled);
}

ContextTimes TimesOf(const CombinedView& view, NodeIndex context) {
  const CombinedTree& tree = view.tree;
  const TimeModel& times = *view.times;
  ContextTimes found = {.own = times.Of(tree.OwnSamples(context), Part::kOwn),
                        .all = times.Of(tree.AllSamples(context), Part::kAll),
                        .share = times.ShareOf(tree.AllSamples(context), Part::kAll)};
  if (MayHideInCaller(tree, context)) {
    const std::span callers = tree.OwnSamples(tree.contexts[context].parent);
    const double high = times.Of(callers, Part::kOwn).high;
    found.own.high += high;
    found.all.high += high;
    found.share.high = std::min(1.0, found.share.high + times.ShareOf(callers, Part::kOwn).high);
  }
  // A context alone takes no longer than with all that it called.
  found.own.high = std::min(found.own.high, std::max(found.own.value, found.all.high));
  return found;
}

bool IsEstimated(const CombinedView& view, NodeIndex context) {
  const CombinedContext& at = view.tree.contexts[context];
  return at.is_java && at.calls > 0 && Sum(view.tree.AllSamples(context)) < kFewSamples;
}

ProductionTimes ProductionOf(const CombinedView& view) {
  ProductionTimes times(view.context_of.size());
  std::vector<bool> given(view.tree.contexts.size());
  for (size_t row = 0; row < times.size(); ++row) {
    const NodeIndex context = view.context_of[row];
    if (context == kNoNode || given[context]) continue;
    given[context] = true;
    const ContextTimes found = TimesOf(view, context);
    times[row] = {.known = true,
                  .samples = Sum(view.tree.OwnSamples(context)),
                  .time = found.own,
                  .all = found.all,
                  .is_estimated = IsEstimated(view, context),
                  .estimated = view.estimated_own[context],
                  .estimated_all = view.estimated_all[context],
                  .calls = view.tree.contexts[context].calls,
                  .outermost_calls = view.tree.OutermostCalls(context)};
  }
  return times;
}

Result<CombinedView> LoadCombined(Combined& combined) {
  CombinedView view;
  CombinedTreeBuilder builder(combined.sampled.size());
  if (auto added = AddCounted(combined, builder, view); !added)
    return std::unexpected(added.error());
  for (size_t run = 0; run < combined.sampled.size(); ++run) {
    if (auto added = AddSampled(combined, run, builder, view); !added)
      return std::unexpected(added.error());
  }
  view.tree = builder.Take();
  view.tree.counted_folded = IsFolded(combined.counted);
  MeasureOverlap(view);
  if (view.common_contexts == 0 && view.sampled_contexts > 0) {
    return WrongUse(
        "{}: no calling context is in the counted and in a sampled profile: are they "
        "of the same program?{}",
        CleanText(combined.directory), DamageOf(combined.counted));
  }
  view.times.emplace(view.tree, combined.meta.usual);
  EstimateFew(view);
  view.differences = DifferencesOf(combined, view);
  return view;
}

Result<CombinedView> LoadCounted(Combined& combined) {
  CombinedView view;
  CombinedTreeBuilder builder(/*runs=*/0);
  if (auto added = AddCounted(combined, builder, view); !added)
    return std::unexpected(added.error());
  view.tree = builder.Take();
  return view;
}

}  // namespace jprof::model
