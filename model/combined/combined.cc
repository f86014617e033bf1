#include "model/combined/combined.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/combined/shrinkage.h"
#include "model/tree/run_description.h"
#include "model/values/amount.h"
#include "profile/files/printable_text.h"
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
  return fmt::format("{} stacks per second of CPU time{}",
                     Rounded(1e9 / static_cast<double>(metric.period.value)),
                     coverage ? fmt::format(", {:.1f} % of it covered", coverage->Percent()) : "");
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

// Returns whether recursion was folded, from the beginning or later.
bool IsFolded(const profile::Reader& reader) {
  return reader.meta().options.fold_recursion || reader.header().folded_ticks != 0;
}

Result<void> AddCounted(Combined& combined, CombinedTreeBuilder& builder, CombinedView& view) {
  Source& source = combined.counted;
  const profile::Meta& meta = source.reader.meta();
  const size_t time = Find(meta.metrics, &profile::Metric::is_time);
  Result<Forest> forest = Load(source, time);
  if (!forest) return std::unexpected(forest.error());
  if (forest->calls == 0)
    return WrongUse("{} has no calls; record it with jprof calltree{}", source.reader.directory(),
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
    return WrongUse("{} has no samples by time; record it with jprof scs{}",
                    source.reader.directory(), DamageOf(source));
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
  const double whole = view.times->Of(tree.AllSamples(0)).value;
  for (double& value : view.estimated_own) value *= whole;
  view.estimated_all = view.estimated_own;
  AddUpNodes(tree.contexts, view.estimated_all);
}

double RunSeconds(const RunSummary& summary) {
  return summary.run.cpu_seconds.value_or(summary.cpu_seconds);
}

// Returns whether the context's time may have been attributed to its caller: it was inlined, or it
// was called but never sampled and could have been inlined. C2 does not record which instructions
// belong to the inlined method where it unrolls a loop.
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

class Differences {
 public:
  Differences(const Combined& combined, CombinedView& view) : combined_(combined), view_(view) {}

  std::vector<RunDifference> Find() {
    const profile::Meta& counted = combined_.counted.reader.meta();
    for (size_t run = 0; run < combined_.sampled.size(); ++run) {
      const profile::Meta& sampled = combined_.sampled[run].reader.meta();
      Texts(run, "JVM", counted.jvm.Title(), sampled.jvm.Title());
      Texts(run, "processor", counted.machine.cpu, sampled.machine.cpu);
      Texts(run, "command", CommandText(counted.command), CommandText(sampled.command));
      Outcome(view_.sampled[run]);
      if (run > 0) CpuTime(run);
    }
    Outcome(view_.counted);
    Methods();
    std::ranges::stable_sort(found_, [](const auto& a, const auto& b) { return a.size > b.size; });
    return std::move(found_);
  }

 private:
  void Add(double size, std::string text) { found_.push_back({size, std::move(text)}); }

  void Texts(size_t run, const char* what, const std::string& counted, const std::string& sampled) {
    if (counted == sampled) return;
    Add(2, fmt::format("{}: {} {}, {} {}", what, view_.counted.run.profile, CleanText(counted),
                       view_.sampled[run].run.profile, CleanText(sampled)));
  }

  void Outcome(const RunSummary& summary) {
    const profile::Run& first = view_.sampled.front().run;
    if (summary.run.exit_status && first.exit_status &&
        summary.run.exit_status != first.exit_status) {
      Add(3, fmt::format("exit status: {} {}, {} {}", first.profile, *first.exit_status,
                         summary.run.profile, *summary.run.exit_status));
    }
    if (summary.run.output == profile::Run::Output::kDiffers) {
      Add(1.5, fmt::format("output: that of {} differs from that of {}", summary.run.profile,
                           first.profile));
    }
  }

  void CpuTime(size_t run) {
    const double first = RunSeconds(view_.sampled.front()), other = RunSeconds(view_.sampled[run]);
    constexpr double kWorthNaming = 0.05;
    if (!(first > 0) || !(other > 0)) return;
    const double change = other / first - 1;
    if (std::abs(change) < kWorthNaming) return;
    Add(std::abs(change), fmt::format("CPU time: {} {:.3f} s, {} {:.3f} s ({:+.0f} %)",
                                      view_.sampled.front().run.profile, first,
                                      view_.sampled[run].run.profile, other, 100 * change));
  }

  // Adds methods whose share of the samples differs between sampled runs by more than chance, and
  // methods that were sampled but not counted.
  void Methods() {
    const CombinedTree& tree = view_.tree;
    const size_t runs = tree.runs;
    std::vector<double> own(tree.names.size() * runs), total(runs);
    std::vector<bool> counted(tree.names.size()), java(tree.names.size());
    for (size_t i = 0; i < tree.contexts.size(); ++i) {
      const CombinedContext& context = tree.contexts[i];
      if (i > 0 && context.counted) counted[context.name] = true;
      if (i > 0 && context.is_java) java[context.name] = true;
      for (size_t run = 0; run < runs; ++run) {
        total[run] += tree.Samples(i, run);
        if (i > 0) own[context.name * runs + run] += tree.Samples(i, run);
      }
    }
    for (size_t name = 0; name < tree.names.size(); ++name) {
      if (java[name]) Uncounted(name, own, total, counted[name]);
      for (size_t run = 1; run < runs; ++run) Share(name, run, own, total);
    }
  }

  void Share(size_t name, size_t run, const std::vector<double>& own,
             const std::vector<double>& total) {
    constexpr double kLeastShare = 0.01, kDeviations = 4;
    const size_t runs = total.size();
    if (!(total[0] > 0) || !(total[run] > 0)) return;
    const double a = own[name * runs] / total[0], b = own[name * runs + run] / total[run];
    const double error = std::sqrt(a / total[0] + b / total[run]);
    if (std::abs(a - b) < kLeastShare || std::abs(a - b) < kDeviations * error) return;
    Add(std::abs(a - b),
        fmt::format("{}: {:.1f} % of {}, {:.1f} % of {}", view_.tree.names[name], 100 * a,
                    view_.sampled[0].run.profile, 100 * b, view_.sampled[run].run.profile));
  }

  void Uncounted(size_t name, const std::vector<double>& own, const std::vector<double>& total,
                 bool counted) {
    constexpr double kLeastShare = 0.005;
    double samples = 0, all = 0;
    for (size_t run = 0; run < total.size(); ++run) {
      samples += own[name * total.size() + run];
      all += total[run];
    }
    if (counted || !(all > 0) || samples / all < kLeastShare) return;
    Add(samples / all, fmt::format("{}: {:.1f} % of the samples, not called in the counted run",
                                   view_.tree.names[name], 100 * samples / all));
  }

  const Combined& combined_;
  CombinedView& view_;
  std::vector<RunDifference> found_;
};

}  // namespace

ContextTimes TimesOf(const CombinedView& view, NodeIndex context) {
  const CombinedTree& tree = view.tree;
  const TimeModel& times = *view.times;
  ContextTimes found = {.own = times.Of(tree.OwnSamples(context)),
                        .all = times.Of(tree.AllSamples(context)),
                        .share = times.ShareOf(tree.AllSamples(context))};
  if (!MayHideInCaller(tree, context)) return found;
  const std::span callers = tree.OwnSamples(tree.contexts[context].parent);
  const double high = times.Of(callers).high;
  found.own.high += high;
  found.all.high += high;
  found.share.high = std::min(1.0, found.share.high + times.ShareOf(callers).high);
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
  view.tree.counted_folded = IsFolded(combined.counted.reader);
  MeasureOverlap(view);
  if (view.common_contexts == 0 && view.sampled_contexts > 0) {
    return WrongUse(
        "{}: no calling context is in the counted and in a sampled profile: are they "
        "of the same program?{}",
        CleanText(combined.directory), DamageOf(combined.counted));
  }
  view.times.emplace(view.tree);
  EstimateFew(view);
  view.differences = Differences(combined, view).Find();
  return view;
}

}  // namespace jprof::model
