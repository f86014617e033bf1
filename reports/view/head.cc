#include "reports/view/head.h"

#include <algorithm>

#include "model/tree/run_description.h"
#include "profile/files/object_metrics.h"
#include "profile/read/losses.h"
#include "reports/quality/metric_text.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

using nlohmann::json;

std::string RunText(const profile::Reader& reader) {
  const profile::Meta& meta = reader.meta();
  std::string text = meta.mode.empty() ? "" : meta.ModeText();
  if (!meta.start.empty()) text += ", " + meta.start;
  return text + ", " + ElapsedText(reader.header());
}

const char* KindText(const profile::Metric& info) {
  if (info.is_weighted()) return "weighted";
  if (info.is_samples()) return "samples";
  return info.is_time() ? "time" : "count";
}

void DescribeCorrection(const model::Source& source, const model::MetricTotals& metric,
                        ViewData& data) {
  if (!metric.info.is_disturbed()) return;
  if (!metric.calibrated) {
    data.Note(fmt::format("{} is UNCALIBRATED, the profiler's own cost is in it: {}",
                          metric.info.name,
                          source.table ? "the table has no costs for it" : source.uncalibrated));
    return;
  }
  data.Fact("calibrated",
            fmt::format("{}: removed {} of {} ({:.1f} %) with {}", metric.info.name,
                        AmountText(metric, metric.adjust), AmountText(metric, metric.raw),
                        model::PercentOf(metric.adjust, metric.raw), source.table_from));
  if (metric.below_zero > 0) {
    data.Note(fmt::format("{}: over-calibrated: {} contexts fell below 0", metric.info.name,
                          metric.below_zero));
  }
  if (metric.within_error > 0) {
    data.Note(fmt::format("{}: {} contexts cost no more than their error", metric.info.name,
                          metric.within_error));
  }
}

}  // namespace

std::vector<std::string> ThreadTexts(const profile::Reader& reader) {
  std::vector<std::string> texts;
  for (const auto& [record, name] : reader.threads())
    texts.push_back(record.tid == 0 ? name : fmt::format("{} (tid {})", name, record.tid));
  return texts;
}

void DescribeRun(const model::Source& source, ViewData& data) {
  const profile::Reader& reader = source.reader;
  const profile::Meta& meta = reader.meta();
  data.Fact("command", model::CommandText(meta.command));
  data.Fact("run", RunText(reader));
  if (reader.window() != nullptr) data.Fact("window", reader.window()->Text());
  if (meta.piece.number != 0) data.Fact("piece", meta.piece.Text());
  data.Fact("JVM", meta.jvm.Title());
  if (source.merged) {
    data.Fact("merged", fmt::format("{} profiles; threads: {}", source.merged->inputs.size(),
                                    source.merged->threads));
    for (const std::string& notice : source.merged->notices) data.Note(notice);
    for (const profile::MergedInput& input : source.merged->inputs) {
      for (const std::string& damage : input.damages)
        data.Loss(fmt::format("{}: damaged: {}", input.path, damage));
      if (!input.finished) data.Note(input.path + ": not finished: it was running, or was killed");
    }
  }
  for (const profile::Loss& loss : profile::Losses(reader))
    if (loss.count > 0) data.Loss(fmt::format("{} {}", loss.count, loss.description));
  for (const std::string& damage : reader.damages().Lines()) data.Loss("damaged: " + damage);
  if (const std::string folded = profile::FoldedText(reader.header()); !folded.empty())
    data.Note(folded + "; counts are exact");
}

void DescribeUncertainty(const model::Source& source, const model::Forest& forest, ViewData& data) {
  for (const model::MetricTotals& metric : forest.metrics) DescribeCorrection(source, metric, data);
  if (!source.refitted.empty()) data.Note(source.refitted);
}

void DescribeQuality(const Quality& quality, ViewData& data) {
  json& facts = data["quality"] = json::array();
  for (const Fact& fact : quality.facts) {
    facts.push_back({{"name", fact.name},
                     {"severity", NameOf(fact.severity)},
                     {"value", fact.value},
                     {"text", fact.text},
                     {"means", fact.means},
                     {"advice", fact.advice}});
  }
}

json DescribeMetric(const model::MetricTotals& metric) {
  json described = {
      {"name", metric.info.name},
      {"unit", metric.info.unit},
      {"kind", KindText(metric.info)},
      {"calibrated", metric.calibrated},
      {"has_error", metric.calibrated || metric.info.is_samples() || metric.estimate_error > 0}};
  if (profile::ObjectMetricOf(metric.info) != nullptr) described["beside"] = true;
  if (metric.info.is_samples() && metric.info.period.value > 0) {
    described["period"] = metric.info.period.value;
    described["period_unit"] = metric.info.period.unit;
  }
  return described;
}

}  // namespace jprof::reports
