// Implements the pure part of a training: computes a metric's overheads from the evidence.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "calibrate/train/training.h"

namespace jprof::calibrate {
namespace {

// Returns the profile's estimate of its handler's tree update, which the production handler
// subtracts from the next interval.
double HandlerTicks(const Samples& samples, EventKind kind, const MetricMetadata& metadata) {
  const auto& handlers = samples.handlers[static_cast<size_t>(kind)];
  if (handlers.empty()) return 0;
  return Estimate(handlers, metadata.granularity).mean - metadata.bracket_ticks;
}

// Returns the typical interval per key according to the deltas, with the tree update subtracted.
std::map<Key, Overhead> FromSamples(const Evidence& evidence, const MetricMetadata& metadata) {
  std::map<Key, Overhead> trained;
  if (metadata.index >= evidence.samples.deltas.size()) return trained;
  for (const auto& [key, deltas] : evidence.samples.deltas[metadata.index]) {
    const Typical typical = Estimate(deltas, metadata.granularity);
    const double handler = HandlerTicks(evidence.samples, key.previous, metadata);
    trained[key] = {.count = typical.count,
                    .observed = metadata.is_time ? typical.mean - handler : typical.minimum,
                    .minimum = typical.minimum,
                    .spread = typical.spread};
  }
  return trained;
}

// Returns one equation per walk of a shape, for its totals in the tree.
std::vector<Equation> WalkEquations(const Evidence& evidence, size_t metric) {
  std::vector<Equation> equations;
  for (const auto& [name, walk] : evidence.walks) {
    equations.push_back({walk.counts, walk.metrics[metric]});
  }
  return equations;
}

double MeanPerEvent(const std::vector<Equation>& equations) {
  double total = 0, events = 0;
  for (const Equation& equation : equations) {
    total += equation.total;
    for (const auto& [key, count] : equation.counts) events += count;
  }
  return events > 0 ? total / events : 0;
}

double CostOf(const Probes& probes, char type, const Calls& of) {
  const auto probe = probes.find(type);
  if (probe == probes.end()) return 0;
  return of.calls * probe->second.Sum() + of.arguments * probe->second.argument +
         of.results * probe->second.result;
}

// These are the kernels in which a probe costs least and most (trainers/Library.java). They are no
// ordinary programs.
constexpr std::string_view kCheapest = "Library dependent";
constexpr std::string_view kDearest = "Library independent";

double EventsOf(const Walk& walk) {
  double events = 0;
  for (const auto& [key, count] : walk.counts) events += count;
  return events;
}

// Returns what the profiler adds to an event of the walk beyond the table's overhead.
double LeftOf(const Walk& walk, const std::vector<double>& truth, const Metric& metric,
              const MetricMetadata& metadata) {
  double residue = walk.metrics[metadata.index] - metadata.RawTruth(truth);
  for (const auto& [key, count] : walk.counts) {
    if (metric.probes.empty()) residue -= count * Lookup(metric, key).value.overhead;
  }
  for (const auto& [type, calls] : walk.by_type) residue -= CostOf(metric.probes, type, calls);
  return residue / EventsOf(walk);
}

// Returns what lost inlining costs an event, which is most of what it costs in ordinary programs.
double LostInlining(const Walks& kernels, const MetricMetadata& metadata) {
  std::vector<double> lost;
  for (const auto& [name, walk] : kernels.walks) {
    const auto truth = kernels.truth.find(name), inlined = kernels.inlined.find(name);
    if (truth == kernels.truth.end() || inlined == kernels.inlined.end()) continue;
    const double events = EventsOf(walk);
    const double more = metadata.RawTruth(truth->second) - metadata.RawTruth(inlined->second);
    if (events > 0) lost.push_back(more / events);
  }
  const Centre centre = CentreOf(std::move(lost));
  return std::max(0.0, centre.median + centre.deviation);
}

// Sets how far the overheads of a state can be from the truth, by the kernels at both ends.
void SetEnds(char state, const Walks& kernels, const MetricMetadata& metadata, Metric& metric) {
  double less = 0, more = 0;
  for (const auto& [name, walk] : kernels.walks) {
    const auto truth = kernels.truth.find(name);
    if (truth == kernels.truth.end() || EventsOf(walk) == 0) continue;
    const double left = LeftOf(walk, truth->second, metric, metadata);
    less = std::max(less, name == kCheapest ? -left : 0);
    more = std::max(more, name == kDearest ? left : 0);
  }
  more += LostInlining(kernels, metadata);
  for (auto& [key, value] : metric.keys) {
    if (std::toupper(static_cast<unsigned char>(key.running)) != state) continue;
    value.less = less;
    value.more = more;
  }
}

// Moves the overheads of each state by the typical residue in its kernels. The empty methods of the
// shapes show how transitions differ. In ordinary code, probes cost slightly more or less, and the
// difference varies.
void FitToKernels(const Evidence& evidence, const MetricMetadata& metadata, Metric& metric) {
  // R is last: its kernels contain some J.
  for (const auto& [state, kernels] : evidence.kernels) {
    const Centre left = CentreOf(LeftPerEvent(kernels, metric, metadata));
    for (auto& [key, value] : metric.keys) {
      if (std::toupper(static_cast<unsigned char>(key.running)) != state) continue;
      value.overhead += left.median;
      value.truth -= left.median;
      value.context = left.deviation;
    }
    SetEnds(state, kernels, metadata, metric);
  }
}

// Calls visit(walk, other walk, difference of what probes add to the two) for every shape and the
// shape to compare it with, whose name is other(name).
void ForEachSlope(const Evidence& evidence, const MetricMetadata& metadata, auto other,
                  auto visit) {
  for (const auto& [name, walk] : evidence.walks) {
    const ShapeName empty_name = other(name);
    const auto empty = evidence.walks.find(empty_name);
    const auto truth = evidence.truth.find(name), empty_truth = evidence.truth.find(empty_name);
    if (name == empty_name || empty == evidence.walks.end() || truth == evidence.truth.end() ||
        empty_truth == evidence.truth.end()) {
      continue;
    }
    const double more = walk.metrics[metadata.index] - empty->second.metrics[metadata.index];
    visit(walk, empty->second,
          more - (metadata.RawTruth(truth->second) - metadata.RawTruth(empty_truth->second)));
  }
}

double MedianOf(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Centre CentreOf(std::vector<double> values) {
  if (values.empty()) return {};
  const double median = MedianOf(values);
  for (double& value : values) value = std::abs(value - median);
  return {median, 1.4826 * MedianOf(values)};
}

std::vector<double> LeftPerEvent(const Walks& kernels, const Metric& metric,
                                 const MetricMetadata& metadata) {
  std::vector<double> left;
  for (const auto& [name, walk] : kernels.walks) {
    const auto truth = kernels.truth.find(name);
    if (truth == kernels.truth.end() || name == kCheapest || name == kDearest) continue;
    if (EventsOf(walk) > 0) left.push_back(LeftOf(walk, truth->second, metric, metadata));
  }
  return left;
}

std::vector<Equation> SlopeEquations(const Evidence& evidence, const MetricMetadata& metadata) {
  std::vector<Equation> equations;
  ForEachSlope(evidence, metadata, EmptyOf,
               [&equations](const Walk& walk, const Walk& empty, double added) {
                 Equation equation{walk.counts, added};
                 for (const auto& [key, count] : empty.counts) equation.counts[key] -= count;
                 equations.push_back(std::move(equation));
               });
  return equations;
}

// Compares shapes with three calls in a row with those with two: what the caller saves across its
// own probes is the same in both.
std::vector<ProbeEquation> ProbeEquations(const Evidence& evidence,
                                          const MetricMetadata& metadata) {
  const auto shorter = [](const ShapeName& name) {
    return name.ends_with('3') ? ShorterOf(name) : ShapeName();
  };
  std::vector<ProbeEquation> equations;
  ForEachSlope(
      evidence, metadata, shorter, [&equations](const Walk& walk, const Walk& empty, double added) {
        ProbeEquation equation{walk.by_type, added};
        for (const auto& [type, calls] : empty.by_type) {
          Calls& of = equation.by_type[type];
          of = {of.calls - calls.calls, of.arguments - calls.arguments, of.results - calls.results};
        }
        equations.push_back(std::move(equation));
      });
  return equations;
}

namespace {

Probe Mean(const Probe& a, const Probe& b) {
  return {.enter_in = (a.enter_in + b.enter_in) / 2,
          .enter_out = (a.enter_out + b.enter_out) / 2,
          .exit_in = (a.exit_in + b.exit_in) / 2,
          .exit_out = (a.exit_out + b.exit_out) / 2,
          .argument = (a.argument + b.argument) / 2,
          .result = (a.result + b.result) / 2};
}

// Makes a metric of a counter. Counters are exact: whole walks determine the cost of the probes of
// each method type to the instruction.
Metric MakeExactMetric(const Evidence& evidence, const MetricMetadata& metadata) {
  Metric metric{.name = metadata.name, .unit = metadata.unit, .granularity = 1};
  metric.keys = FromSamples(evidence, metadata);
  std::map<Key, double> minima;
  for (const auto& [key, value] : metric.keys) minima[key] = value.minimum;
  const ProbeFit fit = FitProbes(ProbeEquations(evidence, metadata), minima);
  metric.probes = fit.probes;
  for (auto& [key, value] : metric.keys) {
    value.overhead = OverheadOf(fit.probes, key);
    value.truth = value.observed - value.overhead;
    value.context = fit.deviation;
  }
  return metric;
}

Metric MakeTime(const Evidence& evidence, const MetricMetadata& metadata) {
  Metric metric{.name = metadata.name,
                .unit = metadata.unit,
                .granularity = metadata.granularity,
                .bias = metadata.bias};
  metric.keys = FromSamples(evidence, metadata);

  // Single intervals determine the proportions within a walk. The tree, which is what reports
  // correct, determines the total.
  Problem observed{.equations = WalkEquations(evidence, metadata.index)};
  for (const auto& [key, value] : metric.keys) observed.start[key] = value.observed;
  observed.fallback = MeanPerEvent(observed.equations);
  const std::map<Key, double> typical = Solve(observed);

  // The measurements cannot separate the entry of a call from its exit. Probes cost nearly the same
  // everywhere, real work does not: therefore every overhead starts at the mean of all and moves
  // only as far as the equations require.
  Problem overhead{.equations = SlopeEquations(evidence, metadata), .ceiling = typical};
  overhead.fallback = MeanPerEvent(overhead.equations);
  for (const auto& [key, value] : Solve(overhead)) {
    Overhead& entry = metric.keys[key];
    const auto observed_value = typical.find(key);
    entry.observed = observed_value == typical.end() ? value : observed_value->second;
    entry.overhead = value;
    entry.truth = entry.observed - value;
  }
  FitToKernels(evidence, metadata, metric);
  return metric;
}

}  // namespace

Metric MakeMetric(const Evidence& evidence, const MetricMetadata& metadata) {
  return metadata.is_time ? MakeTime(evidence, metadata) : MakeExactMetric(evidence, metadata);
}

Metric Combine(const Metric& first, const Metric& second) {
  Metric both = first;
  for (auto& [type, probe] : both.probes) {
    if (const auto other = second.probes.find(type); other != second.probes.end())
      probe = Mean(probe, other->second);
  }
  // This value is for keys that only `first` has; the loop below sets the others.
  for (auto& [key, value] : both.keys) value.repeat = value.overhead;
  for (const auto& [key, other] : second.keys) {
    const auto [entry, is_new] = both.keys.try_emplace(key, other);
    Overhead& value = entry->second;
    value.repeat = other.overhead;
    if (is_new) continue;
    value.repeat = std::abs(value.overhead - other.overhead);
    value.count += other.count;
    value.observed = (value.observed + other.observed) / 2;
    value.overhead = (value.overhead + other.overhead) / 2;
    value.truth = value.observed - value.overhead;
    value.minimum = std::min(value.minimum, other.minimum);
    value.spread = (value.spread + other.spread) / 2;
    value.context = (value.context + other.context) / 2;
    value.less = std::max(value.less, other.less);
    value.more = std::max(value.more, other.more);
  }
  return both;
}

}  // namespace jprof::calibrate
