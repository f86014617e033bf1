// The pure half of a training: from evidence to a metric's overheads.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "calibrate/train/training.h"

namespace jprof::calibrate {
namespace {

// The profile's own estimate of its handler's walk, which the production handler takes off the next
// interval.
double HandlerTicks(const Samples& samples, EventKind kind, const MetricFacts& facts) {
  const auto& handlers = samples.handlers[static_cast<size_t>(kind)];
  if (handlers.empty()) return 0;
  return Estimate(handlers, facts.granularity).mean - facts.bracket_ticks;
}

// A typical interval per key as the trained deltas have it, the walk taken out.
std::map<Key, Overhead> FromSamples(const Evidence& evidence, const MetricFacts& facts) {
  std::map<Key, Overhead> trained;
  if (facts.index >= evidence.samples.deltas.size()) return trained;
  for (const auto& [key, deltas] : evidence.samples.deltas[facts.index]) {
    const Typical typical = Estimate(deltas, facts.granularity);
    const double walk = HandlerTicks(evidence.samples, key.previous, facts);
    trained[key] = {.count = typical.count,
                    .observed = facts.is_time ? typical.mean - walk : typical.minimum,
                    .minimum = typical.minimum,
                    .spread = typical.spread};
  }
  return trained;
}

// Whole walks: the tree's own totals.
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

// The empty methods of the shapes say how transitions differ; amid ordinary work probes cost a
// little more or less, and not everywhere the same. Moves the overheads of each state by what is
// typically left in its kernels.
void FitToKernels(const Evidence& evidence, const MetricFacts& facts, Metric& metric) {
  for (const auto& [state, kernels] :
       evidence.kernels) {  // R last: its kernels have some J in them
    const Centre left = CentreOf(LeftPerEvent(kernels, metric, facts));
    for (auto& [key, value] : metric.keys) {
      if (std::toupper(static_cast<unsigned char>(key.running)) != state) continue;
      value.overhead += left.median;
      value.truth -= left.median;
      value.context = left.deviation;
    }
  }
}

double CostOf(const Probes& probes, char type, const Calls& of) {
  const auto probe = probes.find(type);
  if (probe == probes.end()) return 0;
  return of.calls * probe->second.Sum() + of.arguments * probe->second.argument +
         of.results * probe->second.result;
}

// Calls visit(walk, the other, what probes add to it more than to the other) for every shape and
// the one that other(name) names for comparison.
void ForEachSlope(const Evidence& evidence, const MetricFacts& facts, auto other, auto visit) {
  for (const auto& [name, walk] : evidence.walks) {
    const ShapeName empty_name = other(name);
    const auto empty = evidence.walks.find(empty_name);
    const auto truth = evidence.truth.find(name), empty_truth = evidence.truth.find(empty_name);
    if (name == empty_name || empty == evidence.walks.end() || truth == evidence.truth.end() ||
        empty_truth == evidence.truth.end()) {
      continue;
    }
    const double more = walk.metrics[facts.index] - empty->second.metrics[facts.index];
    visit(walk, empty->second,
          more - (facts.RawTruth(truth->second) - facts.RawTruth(empty_truth->second)));
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
                                 const MetricFacts& facts) {
  std::vector<double> left;
  for (const auto& [name, walk] : kernels.walks) {
    const auto truth = kernels.truth.find(name);
    if (truth == kernels.truth.end()) continue;
    double rest = walk.metrics[facts.index] - facts.RawTruth(truth->second), events = 0;
    for (const auto& [key, count] : walk.counts) {
      if (metric.probes.empty()) rest -= count * Lookup(metric, key).value.overhead;
      events += count;
    }
    for (const auto& [type, calls] : walk.by_type) rest -= CostOf(metric.probes, type, calls);
    if (events > 0) left.push_back(rest / events);
  }
  return left;
}

std::vector<Equation> SlopeEquations(const Evidence& evidence, const MetricFacts& facts) {
  std::vector<Equation> equations;
  ForEachSlope(evidence, facts, EmptyOf,
               [&equations](const Walk& walk, const Walk& empty, double added) {
                 Equation equation{walk.counts, added};
                 for (const auto& [key, count] : empty.counts) equation.counts[key] -= count;
                 equations.push_back(std::move(equation));
               });
  return equations;
}

// The third call in a row against the second: what the caller itself keeps over its own probes is
// the same in both.
std::vector<ProbeEquation> ProbeEquations(const Evidence& evidence, const MetricFacts& facts) {
  const auto shorter = [](const ShapeName& name) {
    return name.ends_with('3') ? ShorterOf(name) : ShapeName();
  };
  std::vector<ProbeEquation> equations;
  ForEachSlope(
      evidence, facts, shorter, [&equations](const Walk& walk, const Walk& empty, double added) {
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

// Counters are exact: whole walks say what the probes of each type of method cost, to the
// instruction.
Metric MakeExactMetric(const Evidence& evidence, const MetricFacts& facts) {
  Metric metric{.name = facts.name, .unit = facts.unit, .granularity = 1};
  metric.keys = FromSamples(evidence, facts);
  std::map<Key, double> minima;
  for (const auto& [key, value] : metric.keys) minima[key] = value.minimum;
  const ProbeFit fit = FitProbes(ProbeEquations(evidence, facts), minima);
  metric.probes = fit.probes;
  for (auto& [key, value] : metric.keys) {
    value.overhead = OverheadOf(fit.probes, key);
    value.truth = value.observed - value.overhead;
    value.context = fit.off;
  }
  return metric;
}

Metric MakeTime(const Evidence& evidence, const MetricFacts& facts) {
  Metric metric{
      .name = facts.name, .unit = facts.unit, .granularity = facts.granularity, .bias = facts.bias};
  metric.keys = FromSamples(evidence, facts);

  // Single intervals say how a walk divides; the tree, which is what gets corrected, says how much
  // it is.
  Problem observed{.equations = WalkEquations(evidence, facts.index)};
  for (const auto& [key, value] : metric.keys) observed.start[key] = value.observed;
  observed.fallback = MeanPerEvent(observed.equations);
  const std::map<Key, double> typical = Solve(observed);

  // Entry and exit of one call cannot be told apart from outside. Probes cost nearly the same
  // everywhere, real work does not: so every overhead starts at the mean of all and moves only as
  // far as the equations demand.
  Problem overhead{.equations = SlopeEquations(evidence, facts), .ceiling = typical};
  overhead.fallback = MeanPerEvent(overhead.equations);
  for (const auto& [key, value] : Solve(overhead)) {
    Overhead& entry = metric.keys[key];
    const auto seen = typical.find(key);
    entry.observed = seen == typical.end() ? value : seen->second;
    entry.overhead = value;
    entry.truth = entry.observed - value;
  }
  FitToKernels(evidence, facts, metric);
  return metric;
}

}  // namespace

Metric MakeMetric(const Evidence& evidence, const MetricFacts& facts) {
  return facts.is_time ? MakeTime(evidence, facts) : MakeExactMetric(evidence, facts);
}

Metric Combine(const Metric& first, const Metric& second) {
  Metric both = first;
  for (auto& [type, probe] : both.probes) {
    if (const auto other = second.probes.find(type); other != second.probes.end())
      probe = Mean(probe, other->second);
  }
  for (auto& [key, value] : both.keys)
    value.repeat = value.overhead;  // unless the second knows it too
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
  }
  return both;
}

}  // namespace jprof::calibrate
