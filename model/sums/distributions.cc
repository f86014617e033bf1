#include "model/sums/distributions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>

namespace jprof::model {
namespace {

// The mean handler of a context counts like that of all contexts at this number of handlers: about
// 100 of them have then been timed.
constexpr double kHandlersOfPrior = 3200;

// The handlers inside calls that were not timed alone, and their ticks.
struct Handlers {
  double count = 0;
  double ticks = 0;

  void Add(const profile::Distribution& distribution) {
    for (const profile::NumberedBucket& bucket : distribution.cpu.buckets) {
      const profile::TimedCalls& calls = bucket.calls;
      count += static_cast<double>(calls.events - std::min(calls.events, calls.timed));
    }
    ticks += static_cast<double>(distribution.handler_ticks);
  }
  double mean() const { return count > 0 ? ticks / count : 0; }
};

// The intervals of each row with all below it, and what calibration subtracts from them.
class Overheads {
 public:
  explicit Overheads(const Forest& forest) : rows_(forest.rows.rows), adjust_(rows_.size()) {
    events_.resize(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      adjust_[i] = forest.rows.cell(i, 0).adjust;
      // An entry and an exit of each call. To set a label is neither.
      const bool is_label =
          forest.names.KindOf(rows_[i].method, rows_[i].type) == FrameKind::kLabel;
      events_[i] = is_label ? 0 : 2 * static_cast<double>(rows_[i].calls);
    }
    AddUpNodes(rows_, adjust_);
    AddUpNodes(rows_, events_);
  }
  // Returns the mean overhead in an interval of the row or below it. The row's own entries end
  // intervals of its callers.
  double MeanOf(NodeIndex row) const {
    const double intervals = events_[row] - static_cast<double>(rows_[row].calls);
    return intervals > 0 ? adjust_[row] / intervals : 0;
  }

 private:
  const std::vector<Row>& rows_;
  std::vector<double> adjust_, events_;
};

// What is to be subtracted for each event inside a call, in ticks.
struct Costs {
  double handler = 0;
  double overhead = 0;
};

CallTimes Corrected(const profile::TimedCalls& calls, const Costs& costs, double unit) {
  const auto handlers = static_cast<double>(calls.events - std::min(calls.events, calls.timed));
  return {
      .calls = calls.calls,
      .measured = static_cast<double>(calls.ticks) * unit,
      .removed =
          (handlers * costs.handler + static_cast<double>(calls.events) * costs.overhead) * unit};
}

TimeHistogram Corrected(const profile::Durations& durations, const Costs& costs, double unit) {
  TimeHistogram histogram;
  histogram.shortest = Corrected(durations.shortest, costs, unit);
  histogram.longest = Corrected(durations.longest, costs, unit);
  for (const profile::NumberedBucket& bucket : durations.buckets) {
    const CallTimes calls = Corrected(bucket.calls, costs, unit);
    histogram.buckets.push_back({bucket.number, calls});
    if (calls.mean() < histogram.shortest.mean()) histogram.shortest = calls;
    if (calls.mean() > histogram.longest.mean()) histogram.longest = calls;
  }
  histogram.tick = unit;
  return histogram;
}

}  // namespace

double CallTimes::mean() const {
  if (calls == 0) return 0;
  return std::max(0.0, (measured - removed) / static_cast<double>(calls));
}

CallTimes& CallTimes::operator+=(const CallTimes& other) {
  calls += other.calls;
  measured += other.measured;
  removed += other.removed;
  return *this;
}

CallTimes TimeHistogram::All() const {
  CallTimes all;
  for (const Bucket& bucket : buckets) all += bucket.calls;
  return all;
}

CallTime TimeHistogram::Quantile(double q) const {
  const auto calls = static_cast<double>(All().calls);
  if (buckets.empty()) return {};
  const double rank = std::clamp(std::ceil(q * calls), 1.0, calls);
  // What is subtracted differs from bucket to bucket, so their order need not be that of times.
  std::vector<Bucket> ascending = buckets;
  std::ranges::stable_sort(ascending, {}, [](const Bucket& one) { return one.calls.mean(); });
  double before = 0;
  auto bucket = ascending.begin();
  while (bucket + 1 != ascending.end() && before + static_cast<double>(bucket->calls.calls) < rank)
    before += static_cast<double>((bucket++)->calls.calls);
  const CallTimes& of = bucket->calls;
  double measured = of.mean_measured();
  if (of.calls > 1) {
    // The times are spread evenly around their mean, as far as the bucket reaches to both sides.
    const double begin = static_cast<double>(profile::BucketBegin(bucket->number)) * tick;
    const double end = static_cast<double>(profile::BucketBegin(bucket->number + 1)) * tick;
    const double half = std::max(0.0, std::min(measured - begin, end - measured));
    measured += half * (2 * (rank - before - 0.5) / static_cast<double>(of.calls) - 1);
  }
  const double removed = of.removed / static_cast<double>(of.calls);
  const double least = shortest.mean(), most = longest.mean();
  const double time = std::clamp(measured - removed, std::min(least, most), most);
  return {time, std::max(measured, time)};
}

CallSummary TimeHistogram::Summary() const {
  const CallTimes all = All();
  CallSummary summary = {.least = Shortest(),
                         .p50 = Quantile(0.5),
                         .p90 = Quantile(0.9),
                         .p99 = Quantile(0.99),
                         .longest = Longest(),
                         .mean = {all.mean(), all.mean_measured()}};
  CallTime* const ascending[] = {&summary.least, &summary.p50, &summary.p90, &summary.p99,
                                 &summary.longest};
  constexpr size_t kTimes = std::size(ascending);
  for (size_t i = 1; i < kTimes; ++i)
    ascending[i]->time = std::max(ascending[i]->time, ascending[i - 1]->time);
  for (size_t i = kTimes - 1; i-- > 0;) {
    const CallTime& longer = *ascending[i + 1];
    ascending[i]->most = std::min(ascending[i]->most, longer.vague ? longer.most : longer.time);
    ascending[i]->most = std::max(ascending[i]->most, ascending[i]->time);
  }
  return summary;
}

TimeHistogram& TimeHistogram::operator+=(const TimeHistogram& other) {
  std::vector<Bucket> sums;
  std::ranges::merge(buckets, other.buckets, std::back_inserter(sums), {}, &Bucket::number,
                     &Bucket::number);
  buckets.clear();
  for (const Bucket& bucket : sums) {
    if (!buckets.empty() && buckets.back().number == bucket.number)
      buckets.back().calls += bucket.calls;
    else
      buckets.push_back(bucket);
  }
  if (shortest.calls == 0 || (other.shortest.calls != 0 && other.shortest.mean() < shortest.mean()))
    shortest = other.shortest;
  if (longest.calls == 0 || (other.longest.calls != 0 && other.longest.mean() > longest.mean()))
    longest = other.longest;
  tick = other.tick;
  return *this;
}

Distribution& Distribution::operator+=(const Distribution& other) {
  cpu += other.cpu;
  elapsed += other.elapsed;
  entered += other.entered;
  return *this;
}

std::vector<RowDistribution> DistributionsOf(const Forest& forest) {
  if (forest.distributions.empty() || forest.metrics.empty() || !forest.metrics[0].info.is_time())
    return {};
  Handlers of_all;
  for (const profile::Distribution& one : forest.distributions) of_all.Add(one);
  const Overheads overheads(forest);
  const double unit = forest.metrics[0].info.scale;
  std::vector<RowDistribution> rows;
  std::unordered_map<NodeIndex, size_t> places;
  for (size_t i = 0; i < forest.distributions.size(); ++i) {
    const NodeIndex row = forest.rows.row_of_distribution[i];
    const profile::Distribution& one = forest.distributions[i];
    Handlers handlers = {kHandlersOfPrior, kHandlersOfPrior * of_all.mean()};
    handlers.Add(one);
    const Costs costs = {handlers.mean(), overheads.MeanOf(row)};
    const auto [place, is_new] = places.try_emplace(row, rows.size());
    if (is_new)
      rows.push_back({row, {.cpu = {}, .elapsed = {}, .entered = forest.rows.rows[row].calls}});
    rows[place->second].distribution +=
        {.cpu = Corrected(one.cpu, costs, unit), .elapsed = Corrected(one.elapsed, costs, unit)};
  }
  std::ranges::sort(rows, {}, &RowDistribution::row);
  return rows;
}

std::vector<MethodDistribution> SumByMethod(const Forest& forest,
                                            const std::vector<RowDistribution>& rows) {
  std::vector<MethodDistribution> sums;
  std::unordered_map<uint32_t, size_t> places;
  for (const RowDistribution& row : rows) {
    const profile::MethodId method = forest.rows.rows[row.row].method;
    const auto [place, is_new] = places.try_emplace(IndexOf(method), sums.size());
    if (is_new) sums.push_back({.method = method, .distribution = {}});
    ++sums[place->second].contexts;
    sums[place->second].distribution += row.distribution;
  }
  return sums;
}

std::vector<std::string> UnmatchedPatterns(const profile::Reader& reader) {
  constexpr size_t kLastPattern = 63;  // whose bit stands for all further ones
  std::vector<std::string> unmatched;
  const std::vector<std::string>& patterns = reader.meta().options.distribution;
  for (size_t i = 0; i < patterns.size(); ++i) {
    const uint64_t bit = uint64_t{1} << std::min(i, kLastPattern);
    if ((reader.header().watched_patterns & bit) == 0 && patterns[i].starts_with('+'))
      unmatched.push_back(patterns[i].substr(1));
  }
  return unmatched;
}

}  // namespace jprof::model
