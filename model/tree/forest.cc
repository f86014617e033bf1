#include "model/tree/forest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common/nearest.h"
#include "common/shell_word.h"
#include "model/tree/live_history.h"
#include "model/tree/sparse_time.h"
#include "model/values/amount.h"
#include "profile/files/object_metrics.h"

namespace jprof::model {
namespace {

static_assert(sizeof(profile::Counts) == sizeof(std::array<uint32_t, 4>));

// Returns the variance of an interval. One event in `bracket_period` measures its handler, and
// subtracts that many times its cost from the next interval. This is right on average, with about
// (period - 1) times the square of the handler's cost as each interval's variance.
double TimerOverheadVariance(const profile::Reader& reader, const profile::CallTree& tree) {
  double own = 0;
  for (const profile::Thread& thread : reader.threads())
    own += static_cast<double>(thread.record.own_ticks);
  double events = 0;
  for (const profile::Counts& counts : tree.counts) {
    events += double{1} * counts.entries[0] + counts.entries[1] + counts.exits[0] + counts.exits[1];
  }
  if (events == 0 || own <= 0 || reader.meta().clock.bracket_period <= 1) return 0;
  return static_cast<double>(reader.meta().clock.bracket_period - 1) * (own / events) *
         (own / events);
}

// Returns the places in the file of the metrics to load: all that were measured, or the requested
// one with its number of samples.
Result<std::vector<size_t>> ChosenMetrics(const Source& source, const std::string& wanted) {
  const std::vector<profile::Metric>& metrics = source.reader.meta().metrics;
  std::vector<size_t> chosen;
  std::vector<std::string_view> names;
  const bool lacks_snapshot = LacksSnapshot(source);
  for (size_t m = 0; m < metrics.size(); ++m) {
    if (lacks_snapshot && profile::IsLive(metrics[m])) continue;
    names.push_back(metrics[m].name);
    if (wanted.empty()) chosen.push_back(m);
    if (metrics[m].name != wanted || !chosen.empty()) continue;
    chosen.push_back(m);
    if (metrics[m].is_weighted() && m + 1 < metrics.size() && metrics[m + 1].is_samples())
      chosen.push_back(m + 1);
  }
  if (wanted.empty() || !chosen.empty()) return chosen;
  if (names.empty())
    return WrongUse("{} has no metric '{}': it has none", source.reader.shown(), wanted);
  const auto nearest = Nearest(wanted, names);
  return WrongUse("{} has no metric '{}'{}; it has: {}", source.reader.shown(), wanted,
                  nearest ? fmt::format(": did you mean '{}'?", *nearest) : "",
                  fmt::join(names, ", "));
}

std::vector<profile::Metric> Infos(const Source& source, const std::vector<size_t>& chosen) {
  std::vector<profile::Metric> infos;
  for (const size_t m : chosen) infos.push_back(source.reader.meta().metrics[m]);
  return infos;
}

struct Corrected {
  calibrate::Correction correction;  // empty where the table does not have the metric
  calibrate::Bounds bounds;
  double estimate_error = 0;  // the part of the sum's error that comes from untimed intervals
};

// Corrects one metric, whose overheads are no larger than the profile lets them be.
Corrected CorrectOne(const Source& source, const profile::CallTree& tree,
                     const calibrate::CountedTree& counted, const profile::Metric& info,
                     std::span<const int64_t> raw, const calibrate::Metric& metric) {
  if (!info.is_time()) return {calibrate::Correct(counted, metric, 0), {}};
  const double variance = TimerOverheadVariance(source.reader, tree);
  // What samples or a table showed that has to stay as it is, or exact parts of probes. Times that
  // are estimates vary: the smallest of them would be too small. Parts of a recording are corrected
  // alike.
  const bool stays = source.as_trained || !source.refitted.empty() || !metric.probes.empty() ||
                     SparseTimeOf(source.reader).is_sparse() || source.reader.is_part();
  if (stays) return {calibrate::Correct(counted, metric, variance), {}};
  std::vector<uint32_t> owner(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) owner[i] = IndexOf(profile::MethodOf(tree.ref[i]));
  calibrate::Bounds bounds =
      calibrate::BoundsOf(calibrate::OwnTimesOf(counted, raw, owner, metric, variance));
  if (bounds.empty()) return {calibrate::Correct(counted, metric, variance), {}};
  return {calibrate::Correct(counted, calibrate::Bounded(metric, bounds), variance),
          std::move(bounds)};
}

// Returns one correction per metric.
std::vector<Corrected> CorrectAll(const Source& source, const profile::CallTree& tree,
                                  const Names& names, const std::vector<profile::Metric>& metrics) {
  std::vector<Corrected> corrections(metrics.size());
  if (!source.table) return corrections;
  std::vector<char> letters(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) letters[i] = KeyLetter(tree.ref[i], names);
  std::vector<calibrate::Kept> kept;
  const bool exact = std::ranges::any_of(source.table->metrics,
                                         [](const auto& metric) { return !metric.probes.empty(); });
  for (size_t i = 0; exact && i < tree.size(); ++i) {
    const profile::MethodName method = names.Parts(profile::MethodOf(tree.ref[i]));
    kept.push_back(calibrate::KeptOf(
        method.signature, method.flags & (profile::kMethodStatic | profile::kMethodNative)));
  }
  const calibrate::CountedTree counted = {
      tree.parent,
      tree.superseded,
      letters,
      {reinterpret_cast<const std::array<uint32_t, 4>*>(tree.counts.data()), tree.counts.size()},
      kept,
      !source.reader.meta().options.within.empty()};
  for (size_t m = 0; m < metrics.size(); ++m) {
    const calibrate::Metric* metric = source.table->Find(metrics[m].calibrated_as());
    if (metric == nullptr || !metrics[m].is_disturbed()) continue;
    corrections[m] = CorrectOne(source, tree, counted, metrics[m], tree.metrics[m], *metric);
  }
  return corrections;
}

// Adds to the errors what is due to intervals that were not timed.
void AddEstimateErrors(const Source& source, const profile::CallTree& tree,
                       const std::vector<profile::Metric>& metrics,
                       std::vector<Corrected>& corrections) {
  const SparseTime sparse = SparseTimeOf(source.reader);
  if (!sparse.is_sparse()) return;
  for (size_t m = 0; m < metrics.size(); ++m) {
    Corrected& one = corrections[m];
    if (metrics[m].is_time())
      one.estimate_error = AddEstimateError(sparse, tree, m, one.correction);
  }
}

// Returns the metric that counts the samples of `m`: the next one for a weighted metric, `m` itself
// for every other sampled one.
size_t CountsOf(const std::vector<profile::Metric>& infos, size_t m) {
  if (!infos[m].is_samples()) return MetricTotals::kNoCounts;
  if (!infos[m].is_weighted()) return m;
  const bool counted =
      m + 1 < infos.size() && infos[m + 1].is_samples() && !infos[m + 1].is_weighted();
  return counted ? m + 1 : MetricTotals::kNoCounts;
}

// Returns one standard deviation of the total of `samples` samples, whose number has a Poisson
// distribution.
double SamplingError(double value, double samples) {
  return samples > 0 ? std::abs(value) / std::sqrt(samples) : 0;
}

std::vector<MetricTotals> MakeColumns(const Source& source, const std::vector<size_t>& chosen,
                                      const std::vector<profile::Metric>& infos,
                                      const std::vector<Corrected>& corrections) {
  std::vector<MetricTotals> columns;
  for (size_t i = 0; i < chosen.size(); ++i) {
    MetricTotals column;
    column.info = infos[i];
    column.running_permille = source.reader.header().least_running_permille[chosen[i]];
    const calibrate::Correction& correction = corrections[i].correction;
    column.calibrated = !correction.adjust.empty();
    column.events = correction.events;
    column.error = correction.total_error;
    column.estimate_error = corrections[i].estimate_error;
    column.bounds = corrections[i].bounds;
    if (column.calibrated)
      column.granularity = source.table->Find(infos[i].calibrated_as())->granularity;
    column.counts = CountsOf(infos, i);
    columns.push_back(column);
  }
  return columns;
}

void AddUp(Forest& forest) {
  for (size_t i = 0; i < forest.rows.rows.size(); ++i) {
    forest.calls += forest.rows.rows[i].calls;
    forest.samples += forest.rows.rows[i].samples;
    if (!forest.metrics.empty())
      SetSamplingErrors(forest.metrics, &forest.rows.cells[i * forest.metrics.size()]);
    for (size_t m = 0; m < forest.metrics.size(); ++m) {
      const Cell& cell = forest.rows.cell(i, m);
      MetricTotals& column = forest.metrics[m];
      column.raw += static_cast<double>(cell.raw);
      column.adjust += cell.adjust;
      if (cell.base() < 0) {
        ++column.below_zero;
        column.residue += cell.base();
      }
      if (column.calibrated && cell.base() <= cell.error) ++column.within_error;
    }
  }
  for (MetricTotals& column : forest.metrics) {
    if (column.counts == MetricTotals::kNoCounts) continue;
    column.error = SamplingError(column.raw, forest.metrics[column.counts].raw);
  }
}

// Replaces method ids, so that each is a symbol and no longer one of its addresses.
void NameBySymbol(profile::CallTree& tree, const Names& names) {
  for (profile::MethodRef& ref : tree.ref) {
    ref = profile::PackMethod(profile::TypeOf(ref), names.Canonical(profile::MethodOf(ref)));
  }
}

std::unexpected<Error> LacksSites(const Source& source) {
  return WrongUse(
      "{} was recorded without call sites; record it with: jprof calltree --call-sites, or with "
      "jprof scs",
      source.reader.shown());
}

// Reads the tree of the file with the values of the chosen metrics only.
Result<profile::CallTree> ReadTree(Source& source, const std::vector<size_t>& chosen,
                                   bool call_sites) {
  if (call_sites && !source.reader.meta().options.sites) return LacksSites(source);
  Result<profile::CallTree> tree = source.reader.ReadTree(
      profile::ReadingMemory(), call_sites ? profile::Sites::kApart : profile::Sites::kFolded);
  if (!tree) return tree;
  const std::string& directory = source.reader.shown();
  if (tree->size() == 0 && source.reader.meta().is(Mode::kTrace)) {
    return WrongUse("{}: a trace has no call tree; print it with: jprof report log-gen {}",
                    directory, ShellWord(directory));
  }
  std::vector<std::vector<int64_t>> values;
  for (const size_t m : chosen) values.push_back(std::move(tree->metrics[m]));
  tree->metrics = std::move(values);
  return tree;
}

ThreadGroups GroupsOf(const Source& source, const ForestOptions& options) {
  if (options.merged) return AllThreads(source.reader.threads());
  return options.pools ? ThreadPools(source.reader.threads()) : ThreadGroups();
}

// Returns which records become one row. After folding began, a thread has two trees.
Merge MergeOf(const Source& source, const Forest& forest) {
  const std::vector<uint32_t>& groups = forest.groups.of_thread;
  const bool two_trees = source.reader.header().folded_ticks != 0;
  return {.siblings = !groups.empty() || forest.names.has_aliases() || two_trees,
          .thread_group = groups};
}

// Makes rows and totals, and frees the records, of which there may be 10 million. `chosen` are the
// metrics of `tree`.
Forest MakeForest(Source& source, profile::CallTree tree, const std::vector<size_t>& chosen,
                  const ForestOptions& options) {
  const std::vector<profile::Metric> infos = Infos(source, chosen);
  Forest forest;
  forest.names = Names(source.reader);
  if (forest.names.has_aliases()) NameBySymbol(tree, forest.names);
  std::vector<Corrected> corrected = CorrectAll(source, tree, forest.names, infos);
  AddEstimateErrors(source, tree, infos, corrected);
  forest.metrics = MakeColumns(source, chosen, infos, corrected);
  std::vector<calibrate::Correction> corrections;
  for (Corrected& one : corrected) corrections.push_back(std::move(one.correction));
  std::vector<bool> counts_samples;
  for (const profile::Metric& info : infos)
    counts_samples.push_back(info.is_samples() && !info.is_weighted());
  forest.groups = GroupsOf(source, options);
  forest.rows = BuildRows(tree, corrections, counts_samples, MergeOf(source, forest));
  forest.distributions = std::move(tree.distributions);
  return forest;
}

// Sorts threads by cost, so that a report begins with the most expensive, and siblings as --sort
// requests.
void Order(Forest& forest, const ForestOptions& options) {
  const std::vector<double> cumulative = Cumulative(forest.rows, 0);
  SortRoots(forest.rows, cumulative);
  if (options.sort.value_or(Sort::kFirst) == Sort::kFirst) return;
  if (options.sort == Sort::kBase && options.by_cumulative)
    return SortByWeight(forest.rows, cumulative);
  std::vector<double> weight(forest.rows.rows.size());
  for (size_t i = 0; i < weight.size(); ++i) {
    const bool by_base = options.sort == Sort::kBase && forest.metric_count() > 0;
    weight[i] =
        by_base ? forest.rows.cell(i, 0).base() : static_cast<double>(forest.rows.rows[i].calls);
  }
  SortByWeight(forest.rows, weight);
}

}  // namespace

void SetSamplingErrors(const std::vector<MetricTotals>& columns, Cell* cells) {
  for (size_t m = 0; m < columns.size(); ++m) {
    if (columns[m].counts == MetricTotals::kNoCounts) continue;
    cells[m].error = static_cast<float>(SamplingError(
        static_cast<double>(cells[m].raw), static_cast<double>(cells[columns[m].counts].raw)));
  }
}

Result<Forest> LoadForest(Source& source, const ForestOptions& options) {
  const Result<std::vector<size_t>> chosen = ChosenMetrics(source, options.metric);
  if (!chosen) return std::unexpected(chosen.error());
  Result<profile::CallTree> tree = ReadTree(source, *chosen, options.call_sites);
  if (!tree) return std::unexpected(tree.error());
  const size_t records = tree->size();
  Forest forest = MakeForest(source, *std::move(tree), *chosen, options);
  // It belongs to contexts that are not by site.
  if (!options.call_sites) forest.spread = profile::ReadSpread(source.reader, records);
  for (const size_t m : *chosen) forest.spread_columns.push_back(1 + m);  // calls come first
  AddUp(forest);
  Order(forest, options);
  return forest;
}

bool IsLargeUnknown(const Forest& forest, const Cell& own, uint64_t calls, double percent) {
  if (forest.metrics.empty() || !forest.metrics[0].calibrated) return false;
  if (own.base() >= 0 && !own.is_vague()) return false;
  const auto reaches = [percent](double part, double whole) {
    return part > 0 && part >= whole * percent / 100;
  };
  return reaches(static_cast<double>(own.raw), forest.metrics[0].raw) ||
         reaches(static_cast<double>(calls), static_cast<double>(forest.calls));
}

std::string AboveWholeText(const Forest& forest, double part) {
  if (forest.metrics.empty()) return "";
  const MetricTotals& metric = forest.metrics[0];
  if (!(part > metric.base()) || metric.residue >= 0) return "";
  return fmt::format("above 100 %: rows that fell below 0 take {} off the whole",
                     AmountIn(metric.info.unit, InUnit(metric, -metric.residue)));
}

}  // namespace jprof::model
