#include "calibrate/model/bound.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numbers>
#include <unordered_map>

namespace jprof::calibrate {
namespace {

// Fewer intervals say little about an overhead: their variance has a long tail (an interrupt in a
// timed event counts as many).
constexpr double kLeastEvents = 10'000;
// So many methods suffice, those with the most intervals.
constexpr size_t kMostMethods = 200;
// A method above so many times the mean overhead works too much to say anything about it.
constexpr double kMostWork = 3;
// The part of a node's intervals that must be of one type, for it to count for that type.
constexpr double kPure = 0.95;
// The part of the methods about which chance and model error are wrong, by so many deviations.
constexpr double kOutliers = 0.03, kOutlierDeviations = 6;
// Factors and mean works (as shares of the mean overhead) that are tried. The number of factors is
// even: 1 is then in the middle between two of them, and each is either below or above.
constexpr double kLeastFactor = 0.02, kMostFactor = 1.8;
constexpr int kFactors = 60, kWorks = 14;
constexpr double kLeastWork = 1.0 / 32, kWorkStep = 1.5;
// Shares of the methods, to be tried, that do next to nothing: where many do, the others' work says
// nothing about theirs, and one mean for all would take what they leave for work.
constexpr std::array<double, 3> kIdleShares = {0, 0.4, 0.8};
// How far the overheads of one type may be off in common, at least, as a share.
constexpr double kLeastPrior = 0.25;
// Training on a machine that is not quiet finds a model error that is too large. These shares of it
// are tried; small ones are likely beforehand, because many methods correct that.
constexpr double kModelErrors[] = {0.3, 0.6, 1};
constexpr double kLeastModelError = 0.05;  // of the mean overhead
constexpr double kSurely = 0.95;
constexpr double kNotable = 0.97;  // factors above it change less than the errors that stay

char GroupOf(char letter) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

// Returns the log of the normal distribution's probability below x, also far out.
double LogProbability(double x) {
  if (x > -8) return std::log(std::erfc(-x / std::numbers::sqrt2) / 2);
  return -x * x / 2 - std::log(-x * std::sqrt(2 * std::numbers::pi));
}

double NormalDensity(double x, double sd) {
  return std::exp(-x * x / (2 * sd * sd)) / (sd * std::sqrt(2 * std::numbers::pi));
}

// Returns the density of a normal deviation plus an exponential one of mean `work`.
double Density(double x, double sd, double work) {
  return std::exp(sd * sd / (2 * work * work) - x / work + LogProbability(x / sd - sd / work)) /
         work;
}

// What one method showed, per interval.
struct Seen {
  double time = 0, overhead = 0;
  double chance = 0, model_error = 0;  // standard deviations of `time`
};

struct Evidence {
  std::vector<Seen> methods;
  double mean = 0;   // overhead
  double prior = 0;  // standard deviation of the factor, before anything is seen
  double events = 0;
};

Evidence EvidenceOf(std::span<const OwnTime> times) {
  double events = 0, removed = 0, systematic = 0;
  for (const OwnTime& time : times) {
    events += time.events;
    removed += time.removed;
    systematic += time.systematic;
  }
  Evidence of;
  if (!(removed > 0)) return of;
  of.mean = removed / events;
  of.prior = std::max(kLeastPrior, systematic / removed);
  std::vector<const OwnTime*> most;
  for (const OwnTime& time : times) {
    if (time.events >= kLeastEvents && time.removed > 0 &&
        time.raw < kMostWork * std::max(time.removed, of.mean * time.events))
      most.push_back(&time);
  }
  std::ranges::stable_sort(
      most, [](const OwnTime* a, const OwnTime* b) { return a->events > b->events; });
  if (most.size() > kMostMethods) most.resize(kMostMethods);
  for (const OwnTime* time : most) {
    of.methods.push_back(
        {.time = time->raw / time->events,
         .overhead = time->removed / time->events,
         .chance = std::sqrt(time->variance) / time->events,
         .model_error = std::max(time->model_error / time->events, kLeastModelError * of.mean)});
    of.events += time->events;
  }
  return of;
}

// Returns the log of the sum of what these are the logs of.
double LogOfSum(std::span<const double> logs) {
  const double largest = std::ranges::max(logs);
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - largest);
  return largest + std::log(sum);
}

// Returns the log of the likelihood for each mean work and each share of idle methods.
std::array<double, kWorks * kIdleShares.size()> LogLikelihoods(const Evidence& of, double factor,
                                                               double model_error) {
  std::array<double, kWorks * kIdleShares.size()> sums = {};
  const double least_work = kLeastWork * of.mean;
  for (const Seen& seen : of.methods) {
    const double rest = seen.time - factor * seen.overhead;
    const double sd = std::hypot(seen.chance, model_error * seen.model_error);
    const double idles = Density(rest, sd, least_work);
    auto sum = sums.begin();
    double work = least_work;
    for (int i = 0; i < kWorks; ++i, work *= kWorkStep) {
      const double outlier = NormalDensity(rest, std::hypot(kOutlierDeviations * sd, work));
      const double works = Density(rest, sd, work);
      for (const double share : kIdleShares) {
        const double either = (1 - share) * works + share * idles;
        *sum++ += std::log((1 - kOutliers) * either + kOutliers * outlier + 1e-300);
      }
    }
  }
  return sums;
}

// Returns the log of the probability of each factor that is tried, up to a constant.
std::vector<double> Posterior(const Evidence& of, const std::vector<double>& factors) {
  std::vector<double> logs;
  for (const double factor : factors) {
    const double surprise = (factor - 1) / of.prior;
    std::vector<double> tried;
    for (const double model_error : kModelErrors) {
      for (const double log : LogLikelihoods(of, factor, model_error))
        tried.push_back(log - std::log(model_error));
    }
    logs.push_back(LogOfSum(tried) - surprise * surprise / 2);
  }
  return logs;
}

// Adds up the intervals of nodes by method and type. Nodes of several types, which are few, are
// added up by themselves first.
class Methods {
 public:
  Methods(const CountedTree& tree, std::span<const uint32_t> owner, const Metric& metric,
          double event_variance)
      : tree_(tree), owner_(owner), metric_(metric), event_variance_(event_variance) {
    for (uint32_t part = 0; part < tree.parent.size(); ++part) {
      if (tree.superseded[part] && GroupOf(tree.letter[part]) != GroupOfNode(tree.parent[part]))
        mixed_.try_emplace(tree.parent[part]);
    }
  }

  void AddRaw(uint32_t part, double raw) {
    const uint32_t node = tree_.superseded[part] ? tree_.parent[part] : part;
    const auto mixed = mixed_.find(node);
    (mixed != mixed_.end() ? mixed->second.sum : MethodOf(node)).raw += raw;
  }

  void AddIntervals(uint32_t node, const Key& key, double events) {
    const auto mixed = mixed_.find(node);
    if (mixed == mixed_.end()) return Add(key, events, MethodOf(node));
    mixed->second.by_group[GroupOf(key.running)] += events;
    Add(key, events, mixed->second.sum);
  }

  std::vector<OwnTime> Take() {
    for (const auto& [node, times] : mixed_) {
      for (const auto& [group, events] : times.by_group) {
        if (events >= kPure * times.sum.events) Join(times.sum, methods_[PlaceOf(node, group)]);
      }
    }
    std::map<uint64_t, OwnTime> sorted(methods_.begin(), methods_.end());
    std::vector<OwnTime> times;
    for (auto& [place, time] : sorted) {
      time.group = static_cast<char>(place & 0xff);
      if (time.events > 0) times.push_back(time);
    }
    return times;
  }

 private:
  struct Mixed {
    OwnTime sum;
    std::map<char, double> by_group;  // intervals
  };

  char GroupOfNode(uint32_t node) const { return GroupOf(tree_.letter[node]); }
  uint64_t PlaceOf(uint32_t node, char group) const {
    return uint64_t{owner_[node]} << 8 | static_cast<uint8_t>(group);
  }
  OwnTime& MethodOf(uint32_t node) { return methods_[PlaceOf(node, GroupOfNode(node))]; }

  void Add(const Key& key, double events, OwnTime& sum) {
    const auto [known, is_new] = known_.try_emplace(key);
    if (is_new) known->second = Lookup(metric_, key).value;
    const Overhead& value = known->second;
    sum.events += events;
    sum.removed += events * value.overhead;
    sum.variance += events * (value.spread * value.spread + event_variance_);
    sum.model_error += events * value.context;
    sum.systematic += events * value.Systematic();
  }

  static void Join(const OwnTime& from, OwnTime& sum) {
    sum.events += from.events;
    sum.raw += from.raw;
    sum.removed += from.removed;
    sum.variance += from.variance;
    sum.model_error += from.model_error;
    sum.systematic += from.systematic;
  }

  const CountedTree& tree_;
  std::span<const uint32_t> owner_;
  const Metric& metric_;
  double event_variance_;
  std::unordered_map<uint32_t, Mixed> mixed_;      // by node
  std::unordered_map<uint64_t, OwnTime> methods_;  // by method and type
  std::map<Key, Overhead> known_;
};

}  // namespace

std::vector<OwnTime> OwnTimesOf(const CountedTree& tree, std::span<const int64_t> raw,
                                std::span<const uint32_t> owner, const Metric& metric,
                                double event_variance) {
  Methods methods(tree, owner, metric, event_variance);
  for (size_t part = 0; part < raw.size(); ++part)
    methods.AddRaw(static_cast<uint32_t>(part), static_cast<double>(raw[part]));
  ForEachInterval(tree, [&](uint32_t node, const Key& key, double events) {
    methods.AddIntervals(node, key, events);
  });
  return methods.Take();
}

std::optional<Bound> BoundOf(std::span<const OwnTime> times) {
  const Evidence of = EvidenceOf(times);
  if (of.methods.empty()) return {};
  std::vector<double> factors;
  for (int i = 0; i < kFactors; ++i)
    factors.push_back(kLeastFactor + i * (kMostFactor - kLeastFactor) / (kFactors - 1));
  const std::vector<double> logs = Posterior(of, factors);
  const double all = LogOfSum(logs);
  if (!std::isfinite(all)) return {};
  const auto best = std::ranges::max_element(logs) - logs.begin();
  Bound bound = {.factor = factors[static_cast<size_t>(best)],
                 .methods = of.methods.size(),
                 .events = of.events};
  double below = 0;
  for (size_t i = 0; i < factors.size(); ++i) {
    const double before = below;
    below += std::exp(logs[i] - all);
    if (factors[i] < 1) bound.too_much = below;
    if (before < 0.025 && below >= 0.025) bound.low = factors[i];
    if (before < 0.975 && below >= 0.975) bound.high = factors[i];
  }
  return bound;
}

Bounds BoundsOf(const std::vector<OwnTime>& times) {
  std::map<char, std::vector<OwnTime>> groups;
  for (const OwnTime& time : times) groups[time.group].push_back(time);
  Bounds bounds;
  for (const auto& [group, of_group] : groups) {
    const auto bound = BoundOf(of_group);
    if (bound && bound->factor < kNotable && bound->too_much >= kSurely)
      bounds.emplace(group, *bound);
  }
  return bounds;
}

Metric Bounded(Metric metric, const Bounds& bounds) {
  for (auto& [key, value] : metric.keys) {
    const auto found = bounds.find(GroupOf(key.running));
    if (found == bounds.end() || !(value.overhead > 0)) continue;
    const Bound& bound = found->second;
    const double unknown = (bound.high - bound.low) / 4 * value.overhead;
    value.overhead *= bound.factor;
    value.truth = value.observed - value.overhead;
    value.repeat = std::hypot(value.repeat, unknown);
  }
  return metric;
}

}  // namespace jprof::calibrate
