#include "reports/tree/metric_head.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/values/statistics.h"
#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

// Describes the shares of intervals by how exact the key was that corrected them.
std::string Fallbacks(const model::MetricTotals& column) {
  using enum calibrate::Level;
  const auto share = [&](calibrate::Level level) {
    const double all = std::accumulate(column.events.begin(), column.events.end(), 0.0);
    return model::PercentOf(column.events[static_cast<size_t>(level)], all);
  };
  std::string text = fmt::format("{:.1f} % of intervals by their own key", share(kExact));
  const std::pair<calibrate::Level, const char*> others[] = {
      {kNonStatic, "as non-static"},
      {kAnyPrevious, "by any previous event"},
      {kPerEvent, "by the cheapest of that event"},
      {kNone, "unknown (nothing removed)"}};
  for (const auto& [level, description] : others) {
    if (share(level) > 0) text += fmt::format(", {:.2g} % {}", share(level), description);
  }
  return text;
}

// Returns the corrected total with its error or, as in rows, only its bound where the error is too
// large.
std::string LeftText(const model::MetricTotals& column) {
  const double base = column.raw - column.adjust;
  const std::string error = AmountText(column, column.error);
  if (2 * model::kDeviations95 * column.error <= base || column.error == 0)
    return fmt::format("leaving {} +- {}", AmountText(column, base), error);
  return fmt::format("leaving <{} (its error is {})",
                     AmountText(column, std::max(0.0, base + model::kDeviations95 * column.error)),
                     error);
}

void PrintCalibrated(const model::Source& source, const model::MetricTotals& column, Output& out) {
  out.Print("           calibrated with {} (made {})\n", source.table_from,
            profile::CleanText(source.table->made_at));
  if (!source.refitted.empty()) out.Print("           {}\n", source.refitted);
  out.Print("           removed {} of {} ({:.1f} %), {}; it moves in steps of {} raw\n",
            AmountText(column, column.adjust), AmountText(column, column.raw),
            model::PercentOf(column.adjust, column.raw), LeftText(column), column.granularity);
  if (column.info.is_time() && source.table->version < calibrate::kVersionWithEnds) {
    out.Text(
        "           the error is without overlap and lost inlining, which this table's training "
        "did "
        "not measure: run\n           jprof calibrate again\n");
  }
  out.Print("           {}\n", Fallbacks(column));
  if (column.over_calibrated > 0) {
    out.Print(
        "           over-calibrated: {} rows fell below "
        "0 and print 0; their {} stay in all totals\n",
        column.over_calibrated, AmountText(column, column.residue));
  }
  if (column.within_error > 0) {
    out.Print("           {} rows cost no more than their error: --raw shows it for each\n",
              column.within_error);
  }
}

// Returns the interval between two samples, such as "1 ms of CPU time".
std::string PeriodText(const profile::Metric& info) {
  const double period = static_cast<double>(info.period.value);
  if (info.period.unit != "ns") return model::AmountIn(info.period.unit, period);
  using Clock = profile::Period::Clock;
  return fmt::format("{:g} ms{}", period / 1e6,
                     info.period.clock == Clock::kCpu       ? " of CPU time"
                     : info.period.clock == Clock::kElapsed ? " of elapsed time"
                                                            : "");
}

std::string RateText(const profile::Metric& info) {
  if (info.period.value <= 0) return "each one, or as often as its source determines";
  if (info.period.unit == "events" && info.period.value == 1) return "each event";
  std::string text = fmt::format("one every {}", PeriodText(info));
  if (info.period.unit == "ns")
    text += fmt::format(" ({:g} a second)", 1e9 / static_cast<double>(info.period.value));
  return text;
}

// Prints how many samples there are and what one represents. A weighted metric is printed with the
// number of its samples.
void PrintSampled(const model::Forest& forest, const model::MetricTotals& column, Output& out) {
  const profile::Metric& info = column.info;
  const bool counted = column.counts != model::MetricTotals::kNoCounts;
  const double samples = counted ? forest.metrics[column.counts].raw : 0;
  out.Print(" event     {}: {}\n", info.name, RateText(info));
  if (info.is_weighted()) {
    out.Print("           {}", AmountText(column, column.raw));
    if (samples > 0)
      out.Print(" by {} samples, {} each on average", model::Rounded(samples),
                AmountText(column, column.raw / samples));
    if (!counted) out.Text("; the number of samples behind it is not known");
    out.Text("\n");
  } else if (info.period.value > 0) {
    out.Print("           {} samples, each stands for {}\n", model::Rounded(samples),
              PeriodText(info));
  } else {
    out.Print("           {} samples\n", model::Rounded(samples));
  }
}

// Returns whether the preceding weighted metric prints this number of samples.
bool IsPrintedBefore(const model::Forest& forest, size_t m) {
  return m > 0 && forest.metrics[m - 1].info.is_weighted() && forest.metrics[m - 1].counts == m;
}

size_t PartlyCounted(const model::Names& names) {
  size_t count = 0;
  for (uint32_t id = 0; id < names.size(); ++id)
    count += (names.Parts(profile::MethodId{id}).flags & profile::kMethodIntrinsic) != 0;
  return count;
}

void JsonMetric(const model::MetricTotals& metric, JsonWriter& json) {
  const double scale = metric.info.scale;
  json.StartObject();
  json.Member("name", metric.info.name);
  json.Member("unit", metric.info.unit);
  json.Member("calibrated", metric.calibrated);
  json.NumberMember("raw", metric.raw * scale);
  json.NumberMember("removed", metric.adjust * scale);
  json.NumberMember("error", metric.error * scale);
  json.Key("running");
  json.Shortest(metric.running_permille / 1000.0);
  json.Member("over_calibrated", metric.over_calibrated);
  json.NumberMember("residue", metric.residue * scale);
  if (metric.info.is_samples()) {
    json.Member("sampled", metric.info.is_weighted() ? "weighted" : "samples");
    json.NumberMember("period", static_cast<double>(metric.info.period.value));
    json.Member("period_unit", metric.info.period.unit);
  }
  json.EndObject();
}

}  // namespace

Value ShownValue(const model::MetricTotals& column, double raw) {
  const double value = model::InUnit(column, raw);
  return ShowsDurations(column) ? Value::Duration(value) : Value::Signed(model::Rounded(value));
}

Value BaseValue(const model::MetricTotals& column, const model::Cell& cell) {
  if (!column.calibrated || !cell.is_vague()) return ShownValue(column, std::max(cell.base(), 0.0));
  const double upper = model::InUnit(column, cell.upper());
  if (ShowsDurations(column)) return Value::DurationBelow(std::max(upper, 0.0));
  return Value::Below(std::max(model::Rounded(std::ceil(upper)), int64_t{1}));
}

double PercentOfWhole(const model::MetricTotals& column, double raw) {
  return std::max(model::PercentOf(raw, column.raw - column.adjust), 0.0);
}

std::string AmountText(const model::MetricTotals& column, double raw) {
  return model::AmountIn(column.info.unit, raw * column.info.scale);
}

void PrintPartlyCounted(const model::Names& names, Output& out) {
  const size_t count = PartlyCounted(names);
  if (count == 0) return;
  out.Print(
      " counts    partial for methods that have intrinsics ({}, see `jprof info`), and for what "
      "only these call\n",
      count);
}

void PrintMetrics(const model::Source& source, const model::Forest& forest, Output& out) {
  if (forest.metrics.empty()) {
    out.Print(" metrics   none: call counts only{}\n",
              PartlyCounted(forest.names) == 0 ? ", they are exact" : "");
  }
  PrintPartlyCounted(forest.names, out);
  for (const model::MetricTotals& column : forest.metrics) {
    if (IsPrintedBefore(forest, static_cast<size_t>(&column - forest.metrics.data()))) continue;
    if (column.info.is_samples()) {
      PrintSampled(forest, column, out);
      continue;
    }
    out.Print(" metric    {} in {}\n", column.info.name, column.info.unit);
    if (column.running_permille < 1000) {
      out.Warning(fmt::format(
          "           SCALED: it shared a counter and ran {:.1f} % of the time at least\n",
          column.running_permille / 10.0));
    }
    if (column.calibrated) {
      PrintCalibrated(source, column, out);
    } else if (source.table) {
      out.Warning(
          fmt::format("           UNCALIBRATED: {} has no costs for it; train it: jprof calibrate "
                      "--metrics {}\n",
                      source.table_from, column.info.name));
    } else {
      out.Warning(fmt::format("           UNCALIBRATED, the profiler's own cost is in it: {}\n",
                              source.uncalibrated));
    }
  }
}

void JsonMetrics(const model::Forest& forest, JsonWriter& json) {
  json.Key("metrics");
  json.StartArray();
  for (const model::MetricTotals& metric : forest.metrics) JsonMetric(metric, json);
  json.EndArray();
}

}  // namespace jprof::reports
