#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "calibrate/model/table.h"
#include "model/tree/sparse_time.h"
#include "model/values/amount.h"
#include "model/values/statistics.h"
#include "reports/quality/metric_text.h"
#include "reports/quality/profile_facts.h"

namespace jprof::reports {
namespace {

using enum Severity;
using Metric = model::MetricTotals;

// Returns the share of the intervals that were corrected at this level of exactness.
double ShareOf(const Metric& metric, calibrate::Level level) {
  const double all = std::accumulate(metric.events.begin(), metric.events.end(), 0.0);
  return all > 0 ? metric.events[static_cast<size_t>(level)] / all : 0;
}

// Finds a fact for each calibrated metric.
Findings ForCalibrated(const ProfileEvidence& of,
                       Findings (*find)(const ProfileEvidence& of, const Metric& metric)) {
  Findings found;
  for (const Metric& metric : of.metrics) {
    if (!metric.calibrated) continue;
    for (Finding& one : find(of, metric)) found.push_back(std::move(one));
  }
  return found;
}

Findings Uncalibrated(const ProfileEvidence& of) {
  Findings found;
  for (const Metric& metric : of.metrics) {
    if (metric.calibrated || !metric.info.is_disturbed()) continue;
    std::string why = of.source.uncalibrated;
    if (of.source.table) {
      why = fmt::format("{} has no costs for it; train it: jprof calibrate --metrics {}",
                        of.source.table_from, metric.info.name);
    }
    found.push_back(
        {1, kMajor, fmt::format("UNCALIBRATED: the profiler's own cost is in {}", metric.info.name),
         fmt::format("{} in all; {}", AmountText(metric, metric.raw), why)});
  }
  return found;
}

// Grades the error of the total: half of its 95 % interval, relative to the total.
Findings Subtracted(const ProfileEvidence& of) {
  return ForCalibrated(of, [](const ProfileEvidence& evidence, const Metric& metric) -> Findings {
    const model::Source& source = evidence.source;
    const double arm = model::kDeviations95 * metric.error, base = metric.base();
    const double relative = metric.raw <= 0 ? 0 : base > 0 ? arm / base : 1;
    const std::string with =
        fmt::format("calibrated with {} (made {})", source.table_from, source.table->made_at);
    if (metric.raw <= 0) return {{0, kInfo, metric.info.name + " is calibrated", with}};
    return {{relative, Graded(relative, {.minor = 0.1, .major = 0.5}),
             fmt::format("{}: {} ({:.1f} %) of the profiler subtracted, {} +- {} left",
                         metric.info.name, AmountText(metric, metric.adjust),
                         model::PercentOf(metric.adjust, metric.raw), AmountText(metric, base),
                         AmountText(metric, metric.error)),
             fmt::format("{}; {} as measured, in steps of {}", with, AmountText(metric, metric.raw),
                         AmountText(metric, metric.granularity))}};
  });
}

Findings ForcedTable(const ProfileEvidence& of) {
  const size_t at = of.source.table_from.find("BY FORCE (");  // what does not fit is behind it
  if (!of.source.table || at == std::string::npos) return {};
  return {{1, kMajor, "calibrated " + of.source.table_from.substr(at), of.source.table_from}};
}

Findings OldTable(const ProfileEvidence& of) {
  return ForCalibrated(of, [](const ProfileEvidence& evidence, const Metric& metric) -> Findings {
    if (!metric.info.is_time() || evidence.source.table->version >= calibrate::kVersionWithEnds)
      return {};
    return {{1, kMinor, "the error is without overlap and lost inlining",
             "the training of this table did not measure them"}};
  });
}

Findings Refitted(const ProfileEvidence& of) {
  if (of.source.refitted.empty()) return {};
  return {{1, kInfo, of.source.refitted}};
}

// Finds the types of methods whose costs the profile itself contradicts.
Findings TableTooLarge(const ProfileEvidence& of) {
  return ForCalibrated(of, [](const ProfileEvidence&, const Metric& metric) -> Findings {
    if (metric.bounds.empty()) return {};
    std::string text;
    double least = 1;
    for (const auto& [type, bound] : metric.bounds) {
      least = std::min(least, bound.factor);
      text +=
          fmt::format("{}{:.2f} times ({:.2f} to {:.2f}) in methods of type {}, of which {}",
                      text.empty() ? "" : "; ", bound.factor, bound.low, bound.high, type,
                      bound.methods == 1 ? "1 shows it" : fmt::format("{} show it", bound.methods));
    }
    return {{1 - least, Graded(1 - least, {.minor = 0, .major = 0.3}),
             "the costs of the table are too large for this program, and were lowered", text}};
  });
}

Findings NotRefitted(const ProfileEvidence& of) {
  if (of.source.not_refitted.empty()) return {};
  return {{1, kMinor, "the costs are as trained: its samples do not fit", of.source.not_refitted}};
}

// Finds the share of intervals for which the table has no cost of exactly that transition.
Findings SimilarKeys(const ProfileEvidence& of) {
  return ForCalibrated(of, [](const ProfileEvidence&, const Metric& metric) -> Findings {
    using enum calibrate::Level;
    const double own = ShareOf(metric, kExact);
    if (own == 0 && ShareOf(metric, kNone) == 0) return {};
    std::string text = fmt::format("{:.1f} % of intervals by their own key", 100 * own);
    constexpr std::pair<calibrate::Level, const char*> kOthers[] = {
        {kNonStatic, "as non-static"},
        {kAnyPrevious, "by any previous event"},
        {kPerEvent, "by the cheapest of that event"},
        {kNone, "unknown (nothing removed)"}};
    for (const auto& [level, description] : kOthers) {
      if (ShareOf(metric, level) > 0)
        text += fmt::format(", {:.2g} % {}", 100 * ShareOf(metric, level), description);
    }
    const double unknown = ShareOf(metric, kNone), other = 1 - own;
    const Severity severity = std::max(Graded(other, {.minor = 0.1, .major = 0.5}),
                                       Graded(unknown, {.minor = 0.01, .major = 0.1}));
    return {{other, severity,
             other == 0 ? "every interval was corrected by the cost of its own transition"
                        : fmt::format("{:.2g} % of intervals corrected by the cost of a similar "
                                      "transition, or not",
                                      100 * other),
             text}};
  });
}

// Finds the rows whose value is below 0: `what` they are.
Findings BelowZero(const Metric& metric, std::string_view what) {
  if (metric.below_zero == 0) return {};
  const double share = metric.base() > 0 ? -metric.residue / metric.base() : 1;
  return {{static_cast<double>(metric.below_zero),
           std::max(kMinor, Graded(share, {.major = 0.05, .severe = 0.5})),
           fmt::format("{} {}", Counted(metric.below_zero, "row", "rows"), what),
           fmt::format("fell below 0 and print 0; their {} stay in all totals, so that shares may "
                       "be above 100 %",
                       AmountText(metric, metric.residue))}};
}

Findings OverCalibrated(const ProfileEvidence& of) {
  return ForCalibrated(of, [](const ProfileEvidence&, const Metric& metric) {
    return BelowZero(metric, "over-calibrated");
  });
}

Findings Negative(const ProfileEvidence& of) {
  Findings found;
  for (const Metric& metric : of.metrics) {
    if (metric.calibrated) continue;
    for (Finding& one : BelowZero(metric, "of " + metric.info.name + " measured below 0"))
      found.push_back(std::move(one));
  }
  return found;
}

Findings WithinError(const ProfileEvidence& of) {
  return ForCalibrated(of, [](const ProfileEvidence&, const Metric& metric) -> Findings {
    if (metric.within_error == 0) return {};
    return {{static_cast<double>(metric.within_error), kMinor,
             metric.within_error == 1
                 ? "1 row costs no more than its error"
                 : fmt::format("{} rows cost no more than their error", metric.within_error)}};
  });
}

Findings SharedCounter(const ProfileEvidence& of) {
  Findings found;
  for (const Metric& metric : of.metrics) {
    if (metric.running_permille >= 1000) continue;
    const double share = metric.running_permille / 1000.0;
    found.push_back(
        {share, share < 0.5 ? kMajor : kMinor,
         fmt::format("{} is SCALED: it shared a counter and ran {:.1f} % of the time at "
                     "least",
                     metric.info.name, 100 * share)});
  }
  return found;
}

Findings Estimated(const ProfileEvidence& of) {
  const model::SparseTime sparse = model::SparseTimeOf(of.reader());
  if (!sparse.is_sparse()) return {};
  Findings found;
  for (const Metric& metric : of.metrics) {
    if (!metric.info.is_time()) continue;
    const double arm = model::kDeviations95 * metric.estimate_error, base = metric.base();
    const double relative = base > 0 ? arm / base : metric.estimate_error > 0 ? 1 : 0;
    found.push_back(
        {relative, Graded(relative, {.minor = 0.05, .major = 0.25}),
         fmt::format("{} is estimated from one interval in {} of frequent contexts, +- "
                     "{} in all",
                     metric.info.name, sparse.every, AmountText(metric, metric.estimate_error)),
         fmt::format("{:.0f} intervals were timed", sparse.timed)});
  }
  return found;
}

Findings NotTimed(const ProfileEvidence& of) {
  const model::SparseTime sparse = model::SparseTimeOf(of.reader());
  Findings found;
  for (const Metric& metric : of.metrics) {
    if (!sparse.is_sparse() || !metric.info.is_time() || sparse.untimed <= 0) continue;
    const double share = metric.raw > 0 ? std::min(1.0, sparse.untimed / metric.raw) : 1;
    found.push_back(
        {share, Graded(share, {.minor = 0.01, .major = 0.1}),
         fmt::format("{} ({:.1f} %) of {} was in long intervals that were not timed",
                     AmountText(metric, sparse.untimed), 100 * share, metric.info.name)});
  }
  return found;
}

constexpr FactRow<ProfileEvidence> kMetricFacts[] = {
    {"estimated", Estimated,
     "Calls are exact. The clock was read for the first intervals of each context and for some of "
     "the later ones, which stand for the others; +- is one standard deviation.",
     "Record with a smaller --time-every, or without it."},
    {"not_timed", NotTimed,
     "Its amount is known, but only roughly which of the contexts that ran just then it belongs "
     "to: it is in a context that contains them.",
     "Record without --time-every if the times of these contexts matter."},
    {"forced_table", ForcedTable,
     "The costs that were subtracted are those of another machine or JVM.",
     "jprof calibrate on that machine, and print the report without --force."},
    {"uncalibrated", Uncalibrated,
     "Methods that are called often look more expensive than they are. Counts are not affected.",
     "jprof calibrate"},
    {"shared_counter", SharedCounter,
     "The machine has fewer counters than metrics were measured. Values are scaled to the whole "
     "time, as if nothing had changed while it was not counted.",
     "Record fewer metrics at once: --metrics"},
    {"over_calibrated", OverCalibrated,
     "More was subtracted from these rows than they had: the costs are averages, and these calls "
     "were cheaper.",
     "jprof report log-rt --raw PROFILE"},
    {"negative", Negative,
     "Reading the clock takes time, whose mean is subtracted from each interval: some intervals "
     "are shorter than that.",
     "jprof report log-rt --raw PROFILE"},
    {"within_error", WithinError,
     "What was subtracted is not known exactly enough to tell what these rows cost. They print <X, "
     "the most that they cost.",
     "jprof report log-rt --raw PROFILE"},
    {"similar_keys", SimilarKeys,
     "The training did not see every transition between kinds of code. Others get the cost of a "
     "similar one.",
     "jprof calibrate"},
    {"old_table", OldTable, "The intervals may be too narrow.", "jprof calibrate"},
    {"subtracted", Subtracted,
     "The profiler's own cost is not in the values; +- is one standard "
     "deviation of what is left."},
    {"refitted", Refitted, "The costs were corrected by the samples of a run without probes."},
    {"table_too_large", TableTooLarge,
     "The table would take more from methods of these types than was recorded for them. What is "
     "subtracted is what the shortest of them leave room for, as a multiple of the table's costs "
     "with its 95 % interval.",
     "Record with jprof profile --counted callflow, whose samples show the costs, or train again "
     "on an idle machine: jprof calibrate. --refit=no subtracts the costs of the table."},
    {"not_refitted", NotRefitted,
     "Samples of the unmodified program show what the probes really cost, but not these.",
     "jprof profile --counted callflow"},
};

}  // namespace

ProfileFacts MetricFacts() { return kMetricFacts; }

}  // namespace jprof::reports
