#include "reports/quality/metric_text.h"

#include <fmt/format.h>

#include "model/values/amount.h"
#include "reports/print/units.h"

namespace jprof::reports {

std::string AmountText(const model::MetricTotals& column, double raw) {
  const double value = raw * column.info.scale;
  return column.info.unit == "ns" ? Duration(value) : model::AmountIn(column.info.unit, value);
}

std::string PeriodText(const profile::Metric& info) {
  const auto period = static_cast<double>(info.period.value);
  if (info.period.unit != "ns") return model::AmountIn(info.period.unit, period);
  using Clock = profile::Period::Clock;
  return Duration(period) + (info.period.clock == Clock::kCpu       ? " of CPU time"
                             : info.period.clock == Clock::kElapsed ? " of elapsed time"
                                                                    : "");
}

std::string RateText(const profile::Metric& info) {
  if (info.period.value <= 0) return "each one, or as often as its source determines";
  if (info.period.unit == "events" && info.period.value == 1) return "each event";
  std::string text = "one every " + PeriodText(info);
  if (info.period.unit == "ns")
    text += fmt::format(" ({:g} a second)", 1e9 / static_cast<double>(info.period.value));
  return text;
}

std::string SampledText(std::span<const model::MetricTotals> metrics, size_t m) {
  const model::MetricTotals& column = metrics[m];
  const bool counted = column.counts != model::MetricTotals::kNoCounts;
  const double samples = counted ? metrics[column.counts].raw : 0;
  if (!column.info.is_weighted()) return fmt::format("{} samples", model::Rounded(samples));
  const std::string amount = AmountText(column, column.raw);
  return counted ? fmt::format("{} by {} samples", amount, model::Rounded(samples))
                 : amount + " by an unknown number of samples";
}

bool IsPrintedBefore(std::span<const model::MetricTotals> metrics, size_t m) {
  return m > 0 && metrics[m - 1].info.is_weighted() && metrics[m - 1].counts == m;
}

}  // namespace jprof::reports
