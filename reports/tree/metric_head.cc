#include "reports/tree/metric_head.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/sums/object_sums.h"
#include "model/tree/live_history.h"
#include "model/values/statistics.h"
#include "profile/files/object_metrics.h"
#include "reports/quality/metric_text.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

// Returns what a metric measured in all, and what was subtracted.
std::string MeasuredText(std::span<const model::MetricTotals> metrics, size_t m) {
  const model::MetricTotals& metric = metrics[m];
  if (metric.info.is_samples())
    return fmt::format("{}, {}",
                       metric.info.name == "samples" ? fmt::format("{}", model::Rounded(metric.raw))
                                                     : SampledText(metrics, m),
                       RateText(metric.info));
  if (!metric.info.is_disturbed()) return AmountText(metric, metric.raw) + " in all, exact";
  if (!metric.calibrated) {
    return fmt::format(
        "{}{} in all, with the profiler's own cost", AmountText(metric, metric.raw),
        metric.estimate_error > 0 ? " +- " + AmountText(metric, metric.estimate_error) : "");
  }
  const double base = metric.base();
  const bool is_vague = metric.error > 0 && 2 * model::kDeviations95 * metric.error > base;
  const std::string left =
      is_vague
          ? "<" + AmountText(metric, std::max(0.0, base + model::kDeviations95 * metric.error))
          : fmt::format("{} +- {}", AmountText(metric, base), AmountText(metric, metric.error));
  return fmt::format("{} in all; {} ({:.1f} %) of the profiler subtracted", left,
                     AmountText(metric, metric.adjust),
                     model::PercentOf(metric.adjust, metric.raw));
}

// Returns the line about bytes that the JVM has counted and its probe has not reported, or nothing
// if the bytes were not loaded. The profile has a row for each thread.
std::optional<HeadRow> UnseenLine(const model::Forest& forest) {
  const model::MetricTotals& bytes = forest.metrics.front();
  if (profile::ObjectMetricOf(bytes.info) != &profile::kObjectMetrics.front()) return std::nullopt;
  const auto unseen = static_cast<double>(model::UnseenOf(forest));
  return HeadRow{"not seen",
                 fmt::format("{} of them ({:.2f} %), by the JVM's own count of each thread",
                             AmountText(bytes, unseen), model::PercentOf(unseen, bytes.raw))};
}

// Returns the line about the objects that still exist, or nothing if they were not to be counted.
std::optional<HeadRow> LiveLine(const model::Source& source, const model::Forest& forest) {
  if (model::LacksSnapshot(source)) return HeadRow{"live", "not counted: no snapshot was taken"};
  const auto total = [&](std::string_view name) {
    return std::ranges::find(
        forest.metrics, name, [](const auto& metric) -> auto& { return metric.info.name; });
  };
  const auto bytes = total("live_bytes"), objects = total("live_objects");
  if (bytes == forest.metrics.end() || objects == forest.metrics.end()) return std::nullopt;
  const std::string how =
      bytes->info.is_estimate()
          ? fmt::format("estimated from one object in {} bytes", bytes->info.period.value)
          : "exact";
  return HeadRow{"live",
                 fmt::format("{} in {} objects after the last full collection, {}",
                             AmountText(*bytes, bytes->raw), model::Rounded(objects->raw), how)};
}

// Returns a line with the metric's name as its label, if that is short.
HeadRow MetricLine(std::span<const model::MetricTotals> metrics, size_t m) {
  constexpr size_t kLabel = 9;
  const std::string& name = metrics[m].info.name;
  if (name.size() <= kLabel) return {name, MeasuredText(metrics, m)};
  return {"metric", fmt::format("{}: {}", name, MeasuredText(metrics, m))};
}

// Returns at most two lines about metrics, and one about objects that were not seen.
std::vector<HeadRow> MetricLines(const model::Source& source, const model::Forest& forest) {
  if (forest.metrics.empty()) {
    return {{"calls", fmt::format("{} in {} contexts", forest.calls,
                                  forest.rows.rows.size() - forest.rows.roots.size())}};
  }
  std::vector<HeadRow> lines;
  for (size_t m = 0; m < forest.metrics.size(); ++m) {
    if (!IsPrintedBefore(forest.metrics, m) && !profile::IsLive(forest.metrics[m].info))
      lines.push_back(MetricLine(forest.metrics, m));
  }
  constexpr size_t kShown = 2;
  if (lines.size() > kShown) {
    lines.resize(kShown);
    lines[1] = {"more", fmt::format("{} metrics in all", forest.metrics.size())};
  }
  if (auto live = LiveLine(source, forest)) lines.push_back(*std::move(live));
  if (auto unseen = UnseenLine(forest)) lines.push_back(*std::move(unseen));
  return lines;
}

void JsonBounds(const calibrate::Bounds& bounds, JsonWriter& json) {
  json.Key("lowered");
  json.StartArray();
  for (const auto& [type, bound] : bounds) {
    json.StartObject();
    json.Member("type", std::string(1, type));
    json.FixedMember("factor", bound.factor, 4);
    json.FixedMember("low", bound.low, 4);
    json.FixedMember("high", bound.high, 4);
    json.Member("methods", uint64_t{bound.methods});
    json.EndObject();
  }
  json.EndArray();
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
  json.Member("over_calibrated", metric.below_zero);
  json.NumberMember("residue", metric.residue * scale);
  if (!metric.bounds.empty()) JsonBounds(metric.bounds, json);
  if (metric.info.is_samples()) {
    json.Member("sampled", metric.info.is_weighted() ? "weighted" : "samples");
    json.NumberMember("period", static_cast<double>(metric.info.period.value));
    json.Member("period_unit", metric.info.period.unit);
  }
  if (metric.info.is_estimate()) {
    json.Member("sampled", "estimate");
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
  return std::max(model::PercentOf(raw, column.base()), 0.0);
}

Head ForestHead(const model::Source& source, const model::Forest& forest, std::string_view report) {
  Head head = RunHead(source, report);
  for (HeadRow& line : MetricLines(source, forest)) head.lines.push_back(std::move(line));
  if (!source.refitted.empty()) head.lines.push_back({"overheads", source.refitted});
  return head;
}

void JsonMetrics(const model::Forest& forest, JsonWriter& json) {
  json.Key("metrics");
  json.StartArray();
  for (const model::MetricTotals& metric : forest.metrics) JsonMetric(metric, json);
  json.EndArray();
}

}  // namespace jprof::reports
