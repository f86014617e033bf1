#include "model/combined/refit.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <unordered_map>

#include "calibrate/model/correct.h"
#include "calibrate/model/refit.h"
#include "model/combined/other_work.h"
#include "model/tree/joint_tree.h"
#include "model/tree/names.h"
#include "model/tree/sparse_time.h"
#include "model/values/amount.h"
#include "model/values/statistics.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

using calibrate::Key;

// The least deviation of an overhead, as a share of a reading of the clock: on ordinary programs 1
// to 2 ns per event could not be explained where a reading takes 16 to 27 ns (docs/decisions/0011).
constexpr double kLeastDeviation = 0.08;
// Training separates the entry of a call from its exit less well than both from those of others.
constexpr double kOwnDeviations = 2;

// The deviation between the CPU times of two runs, and that of a trained overhead that is used for
// another key, as shares.
constexpr double kRunDeviation = 0.01, kFallbackDeviation = 0.1;

// What is known of one method, in raw units of the counted metric.
struct Method {
  double raw = 0, sampled = 0;  // as counted, and the mean of the sampled runs
  double variance = 0;          // of both, by chance
  double samples = 0;
  std::map<Key, double> events;
};

// Identifies the methods of several profiles by their comparable names.
class MethodTable {
 public:
  static constexpr uint32_t kOutside = 0xffffffffu;

  // Returns the index of the method of each record. A frame that only one kind of profile can see
  // has that of its nearest caller, and a thread has kOutside.
  std::vector<uint32_t> Match(const profile::CallTree& tree, Names& names) {
    std::vector<uint32_t> methods(tree.size(), kOutside);
    std::unordered_map<uint32_t, uint32_t> known;  // from method id to index
    for (size_t i = 0; i < tree.size(); ++i) {
      if (tree.parent[i] == profile::kNoRecord) continue;
      const uint32_t above = methods[tree.parent[i]];
      if (tree.superseded[i]) {
        methods[i] = above;
        continue;
      }
      const profile::MethodId method = profile::MethodOf(tree.ref[i]);
      const auto [entry, is_new] = known.try_emplace(IndexOf(method), kOutside);
      if (is_new) entry->second = IndexOfName(method, names);
      methods[i] = entry->second == kOutside ? above : entry->second;
    }
    return methods;
  }

  std::vector<Method>& methods() { return methods_; }

 private:
  uint32_t IndexOfName(profile::MethodId method, Names& names) {
    if (method == profile::kOverflowMethod || method == profile::kRootMethod) return kOutside;
    const std::string name = ComparableName(names.Parts(method), names.Of(method));
    if (name.empty()) return kOutside;
    const auto [entry, is_new] = by_name_.try_emplace(name, static_cast<uint32_t>(methods_.size()));
    if (is_new) methods_.emplace_back();
    return entry->second;
  }

  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<Method> methods_;
};

// The metric that is refitted, and its place in the profile.
struct CountedTime {
  size_t index = 0;
  profile::Metric info;
  const calibrate::Metric* table = nullptr;
};

Result<CountedTime> TimeOf(const Source& counted) {
  const std::vector<profile::Metric>& metrics = counted.reader.meta().metrics;
  const auto found = std::ranges::find_if(metrics, &profile::Metric::is_time);
  if (found == metrics.end()) {
    return WrongUse("{} has no times to refit: record them with jprof callflow",
                    counted.reader.shown());
  }
  if (!counted.table)
    return Fail("{} has no calibration table: {}", counted.reader.shown(), counted.uncalibrated);
  const calibrate::Metric* table = counted.table->Find(found->name);
  if (table == nullptr)
    return Fail("{} has no overheads for {}: run jprof calibrate", counted.table_from, found->name);
  return CountedTime{static_cast<size_t>(found - metrics.begin()), *found, table};
}

// Adds the counted run. Returns the variance of its times, if they are estimates.
Result<double> AddCounted(Source& counted, const CountedTime& time, MethodTable& table) {
  const Result<profile::CallTree> tree = counted.reader.ReadTree();
  if (!tree) return std::unexpected(tree.error());
  Names names(counted.reader);
  const std::vector<uint32_t> methods = table.Match(*tree, names);
  calibrate::Correction estimate;
  const double error = AddEstimateError(SparseTimeOf(counted.reader), *tree, time.index, estimate);
  for (size_t i = 0; i < tree->size(); ++i) {
    if (methods[i] == MethodTable::kOutside) continue;
    Method& method = table.methods()[methods[i]];
    method.raw += static_cast<double>(tree->metrics[time.index][i]);
    method.variance += std::pow(estimate.error[i], 2);
  }
  std::vector<char> letters(tree->size());
  for (size_t i = 0; i < tree->size(); ++i) letters[i] = KeyLetter(tree->ref[i], names);
  static_assert(sizeof(profile::Counts) == sizeof(std::array<uint32_t, 4>));
  const calibrate::CountedTree counts = {
      tree->parent,
      tree->superseded,
      letters,
      {reinterpret_cast<const std::array<uint32_t, 4>*>(tree->counts.data()), tree->counts.size()},
      {},
      !counted.reader.meta().options.within.empty()};
  calibrate::ForEachInterval(counts, [&](uint32_t node, const Key& key, double events) {
    if (methods[node] != MethodTable::kOutside)
      table.methods()[methods[node]].events[key] += events;
  });
  return error * error;
}

// Returns the metric of the samples that a thread's CPU time triggered.
Result<size_t> CpuSamplesOf(const Source& sampled) {
  const std::vector<profile::Metric>& metrics = sampled.reader.meta().metrics;
  const auto found = std::ranges::find_if(metrics, &profile::Metric::is_cpu_samples);
  if (found != metrics.end()) return static_cast<size_t>(found - metrics.begin());
  return WrongUse("{} has no samples of CPU time: record it with jprof scs",
                  sampled.reader.shown());
}

// Adds a sampled run, whose share in the mean of all runs is `share`. Returns what one sample adds
// to the mean.
Result<double> AddSampled(Source& sampled, double scale, double share, MethodTable& table) {
  const Result<size_t> metric = CpuSamplesOf(sampled);
  if (!metric) return std::unexpected(metric.error());
  const Result<profile::CallTree> tree = sampled.reader.ReadTree();
  if (!tree) return std::unexpected(tree.error());
  const double weight =
      share * static_cast<double>(sampled.reader.meta().metrics[*metric].period.value) / scale;
  Names names(sampled.reader);
  const std::vector<uint32_t> methods = table.Match(*tree, names);
  for (size_t i = 0; i < tree->size(); ++i) {
    if (methods[i] == MethodTable::kOutside) continue;
    const auto samples = static_cast<double>(tree->metrics[*metric][i]);
    Method& method = table.methods()[methods[i]];
    method.samples += samples;
    method.sampled += weight * samples;
    method.variance += weight * weight * samples;
  }
  return weight;
}

// Adds up the methods and the keys that they used.
void SumUp(const std::vector<Method>& methods, const calibrate::Metric& table,
           Refitting& refitting) {
  std::map<Key, double> events;
  for (const Method& method : methods) {
    refitting.sampled += method.sampled;
    if (method.events.empty()) {
      refitting.uncounted += method.sampled;
      continue;
    }
    ++refitting.methods;
    refitting.samples += method.samples;
    refitting.raw += method.raw;
    for (const auto& [key, count] : method.events) events[key] += count;
  }
  for (const auto& [key, count] : events) {
    const calibrate::Found found = calibrate::Lookup(table, key);
    refitting.keys.push_back({.key = key, .events = count, .trained = found.value});
    refitting.trained += count * found.value.overhead;
    if (found.level >= calibrate::Level::kAnyPrevious) {
      RefitKey& last = refitting.keys.back();
      last.trained.repeat =
          std::max(last.trained.repeat, kFallbackDeviation * std::abs(found.value.overhead));
    }
  }
}

// Returns the group of a key. Overheads have deviations in common with those of the same type of
// running method.
char GroupOf(const Key& key) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(key.running)));
}

std::vector<calibrate::Prior> PriorsOf(const Refitting& refitting, double read_ticks) {
  const double least = std::max(kLeastDeviation * read_ticks, 1e-9);
  std::vector<calibrate::Prior> priors;
  for (const RefitKey& key : refitting.keys) {
    calibrate::Overhead common = key.trained;
    common.repeat = 0;  // which is the key's own
    priors.push_back({.mean = key.trained.overhead,
                      .own = std::hypot(kOwnDeviations * least, key.trained.repeat),
                      .shared = std::hypot(least, common.Systematic()),
                      .group = static_cast<uint32_t>(GroupOf(key.key))});
  }
  return priors;
}

// Returns the observation of all methods together. Samples of inlined code may be attributed to its
// caller, and work may move between two intervals. These are model errors of methods, but not of
// the whole.
calibrate::Observation WholeOf(const Refitting& refitting, double estimated) {
  const double counted_share = refitting.sampled - refitting.uncounted;
  calibrate::Observation whole = {.excess = refitting.raw - counted_share,
                                  .model_errors_cancel = true};
  const double chance = counted_share / std::sqrt(refitting.samples);
  whole.variance = chance * chance + std::pow(kRunDeviation * refitting.raw, 2) + estimated + 1;
  for (const RefitKey& key : refitting.keys)
    whole.events.emplace_back(static_cast<uint32_t>(whole.events.size()), key.events);
  return whole;
}

std::vector<calibrate::Observation> ObservationsOf(const std::vector<Method>& methods,
                                                   const Refitting& refitting, double one_sample,
                                                   double estimated) {
  std::map<Key, uint32_t> place;
  for (const RefitKey& key : refitting.keys)
    place.emplace(key.key, static_cast<uint32_t>(place.size()));
  std::vector<calibrate::Observation> observations;
  for (const Method& method : methods) {
    if (method.events.empty()) continue;
    // A count of 0 does not mean that there was no time, so the variance is that of one more
    // sample.
    calibrate::Observation seen = {.excess = method.raw - method.sampled,
                                   .variance = method.variance + one_sample * one_sample};
    for (const auto& [key, events] : method.events) {
      const uint32_t at = place.at(key);
      const double spread = refitting.keys[at].trained.spread;
      seen.events.emplace_back(at, events);
      seen.variance += events * spread * spread;
    }
    observations.push_back(std::move(seen));
  }
  observations.push_back(WholeOf(refitting, estimated));
  return observations;
}

void SortByTotal(std::vector<RefitKey>& keys) {
  std::ranges::stable_sort(keys, [](const RefitKey& a, const RefitKey& b) {
    return a.events * a.overhead > b.events * b.overhead;
  });
}

}  // namespace

std::string SamplesText(const Refitting& refitting) {
  return fmt::format("{} samples of {}", Rounded(refitting.samples),
                     refitting.runs == 1 ? "one run" : fmt::format("{} runs", refitting.runs));
}

Result<Refitting> RefitToSamples(Source& counted, std::span<Source> sampled) {
  const Result<CountedTime> time = TimeOf(counted);
  if (!time) return std::unexpected(time.error());
  if (sampled.empty()) return WrongUse("there is no sampled profile to refit to");
  MethodTable table;
  const Result<double> estimated = AddCounted(counted, *time, table);
  if (!estimated) return std::unexpected(estimated.error());
  double one_sample = 0;
  for (Source& run : sampled) {
    const Result<double> weight =
        AddSampled(run, time->info.scale, 1.0 / static_cast<double>(sampled.size()), table);
    if (!weight) return std::unexpected(weight.error());
    one_sample = std::max(one_sample, *weight);
  }
  Refitting refitting = {.metric = time->info.name,
                         .unit = time->info.unit,
                         .scale = time->info.scale,
                         .runs = sampled.size()};
  SumUp(table.methods(), *time->table, refitting);
  if (refitting.samples == 0) {
    return WrongUse("{} and {} have no sampled method in common: are they of the same program?",
                    counted.reader.shown(), sampled[0].reader.shown());
  }
  const auto fitted =
      calibrate::Refit(PriorsOf(refitting, counted.reader.meta().clock.read_ticks),
                       ObservationsOf(table.methods(), refitting, one_sample, *estimated));
  if (!fitted) return std::unexpected(fitted.error());
  for (const auto& [group, error] : fitted->model_error)
    refitting.model_error[static_cast<char>(group)] = error;
  for (size_t i = 0; i < refitting.keys.size(); ++i) {
    RefitKey& key = refitting.keys[i];
    key.overhead = fitted->mean[i];
    key.error = fitted->sd[i];
    refitting.refitted += key.events * key.overhead;
  }
  refitting.error = fitted->whole_sd;
  SortByTotal(refitting.keys);
  return refitting;
}

std::optional<Estimate> FactorOf(const Refitting& refitting) {
  if (!(refitting.trained > 0)) return {};
  const double arm = kDeviations95 * refitting.error;
  return Estimate{.value = refitting.refitted / refitting.trained,
                  .low = (refitting.refitted - arm) / refitting.trained,
                  .high = (refitting.refitted + arm) / refitting.trained};
}

std::string FactorText(const Estimate& factor) {
  return fmt::format("{:.2f} times ({:.2f} to {:.2f})", factor.value, factor.low, factor.high);
}

void UseRefitted(Source& counted, const Refitting& refitting) {
  for (calibrate::Metric& metric : counted.table->metrics) {
    if (metric.name != refitting.metric) continue;
    for (const RefitKey& key : refitting.keys) {
      calibrate::Overhead value = key.trained;
      value.overhead = key.overhead;
      value.truth = value.observed - value.overhead;
      value.less = value.more = 0;  // the program itself showed the overhead
      value.repeat = key.error;
      value.context = refitting.model_error.at(GroupOf(key.key));
      metric.keys[key.key] = value;
    }
  }
  counted.refit = FactorOf(refitting);
  const auto amount = [&](double raw) { return AmountIn(refitting.unit, raw * refitting.scale); };
  counted.refitted = fmt::format(
      "refitted to {} of the unmodified program{}; methods take {} after that, and {} by the "
      "samples; lost inlining is removed as well",
      SamplesText(refitting),
      counted.refit ? fmt::format(": {} what the table would remove", FactorText(*counted.refit))
                    : "",
      amount(refitting.raw - refitting.refitted), amount(refitting.sampled - refitting.uncounted));
}

void RefitIfPossible(Source& counted, std::span<Source> sampled) {
  if (counted.as_trained || sampled.empty() || !TimeOf(counted)) return;
  const Result<Refitting> refitting = RefitToSamples(counted, sampled);
  counted.not_refitted = refitting ? OtherWork(*refitting) : refitting.error().message;
  if (counted.not_refitted.empty()) UseRefitted(counted, *refitting);
}

}  // namespace jprof::model
