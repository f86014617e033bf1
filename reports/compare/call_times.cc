#include "reports/compare/call_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "reports/print/units.h"

namespace jprof::reports {
namespace {

constexpr double kResolution = 1.25;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// The calls of one id on each side.
struct TwoDistributions {
  std::array<std::optional<model::Distribution>, 2> sides;

  void Add(size_t side, const model::Distribution& distribution) {
    std::optional<model::Distribution>& of = sides[side];
    if (of)
      *of += distribution;
    else
      of = distribution;
  }
};
using ById = std::map<uint32_t, TwoDistributions>;

model::CallTime Summarised(const model::CallSummary& summary, size_t quantile) {
  const model::CallTime times[] = {summary.p50, summary.p90, summary.p99};
  return times[quantile];
}

ClockChange Compared(const char* clock, const model::TimeHistogram& a,
                     const model::TimeHistogram& b) {
  ClockChange change = {.clock = clock, .quantiles = {}, .means = {}};
  const model::CallSummary of_a = a.Summary(), of_b = b.Summary();
  for (size_t i = 0; i < change.quantiles.size(); ++i) {
    TimeChange& quantile = change.quantiles[i] = ChangeOf(a, b, kComparedQuantiles[i]);
    quantile.a = Summarised(of_a, i);
    quantile.b = Summarised(of_b, i);
  }
  change.means = {of_a.mean, of_b.mean};
  return change;
}

// Returns how much the surest and largest change is.
double SizeOfChange(const CallChange& change) {
  double most = 0;
  for (const ClockChange& clock : change.clocks) {
    for (const TimeChange& quantile : clock.quantiles) {
      const double size = std::abs(std::log(quantile.ratio.value));
      if (!quantile.within && std::isfinite(size)) most = std::max(most, size);
    }
  }
  return most;
}

std::vector<CallChange> ChangesOf(const ById& by_id) {
  std::vector<CallChange> changes;
  for (const auto& [id, two] : by_id) {
    if (!two.sides[0] || !two.sides[1]) continue;
    const model::Distribution &a = *two.sides[0], &b = *two.sides[1];
    if (a.cpu.buckets.empty() || b.cpu.buckets.empty()) continue;
    changes.push_back(
        {.id = id,
         .calls = {a.cpu.All().calls, b.cpu.All().calls},
         .clocks = {Compared("cpu", a.cpu, b.cpu), Compared("elapsed", a.elapsed, b.elapsed)}});
  }
  std::ranges::stable_sort(changes, std::greater(), SizeOfChange);
  return changes;
}

}  // namespace

TimeChange ChangeOf(const model::TimeHistogram& a, const model::TimeHistogram& b, double quantile) {
  // Below the ends of a quantile's interval are n * q +- 2 * sqrt(n * q * (1 - q)) of n calls.
  const auto end = [&](const model::TimeHistogram& of, double sign) {
    const auto calls = static_cast<double>(of.All().calls);
    const double open = model::kDeviations95 * std::sqrt(quantile * (1 - quantile) / calls);
    const double share = quantile + sign * open;
    if (share <= 0) return 0.0;
    return share < 1 ? of.Quantile(share).time : kUnbounded;  // it may be longer than all calls
  };
  TimeChange change = {.a = a.Quantile(quantile), .b = b.Quantile(quantile)};
  const double a_low = end(a, -1);
  change.ratio = {
      change.a.time > 0 ? change.b.time / change.a.time : std::numeric_limits<double>::quiet_NaN(),
      end(a, 1) > 0 ? end(b, -1) / end(a, 1) : 0, a_low > 0 ? end(b, 1) / a_low : kUnbounded};
  const bool beyond = change.ratio.low > 1 || change.ratio.high < 1;  // false if it is NaN
  const bool seen = change.ratio.value > kResolution || change.ratio.value * kResolution < 1;
  change.within = change.a.vague || change.b.vague || !beyond || !seen;
  return change;
}

CallChanges CompareCalls(const std::array<model::Forest, 2>& forests,
                         const model::JointTree& tree) {
  ById contexts, methods;
  for (size_t side = 0; side < 2; ++side) {
    for (const model::RowDistribution& row : DistributionsOf(forests[side])) {
      const model::NodeIndex context = tree.context_of_row[side][row.row];
      if (context == model::kNoNode) continue;
      contexts[context].Add(side, row.distribution);
      methods[tree.contexts[context].name].Add(side, row.distribution);
    }
  }
  return {.contexts = ChangesOf(contexts), .methods = ChangesOf(methods)};
}

std::string TimeText(const model::CallTime& time) {
  return time.vague ? "<" + Duration(time.most) : Duration(time.time);
}

std::string RatioText(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  return fmt::format("{:.{}f}", ratio, ratio < 0.1 ? 3 : ratio < 100 ? 2 : 0);
}

}  // namespace jprof::reports
