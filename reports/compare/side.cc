#include "reports/compare/side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/values/amount.h"
#include "profile/files/printable_text.h"
#include "profile/read/losses.h"
#include "reports/print/units.h"
#include "reports/quality/quality_of.h"

namespace jprof::reports {
namespace {

std::string HowText(const model::Source& source, const model::Forest& forest) {
  const model::MetricTotals& column = forest.metrics[0];
  const profile::Metric& info = column.info;
  if (column.counts == 0 && info.period.value > 0) {
    return fmt::format("{}, one each {}",
                       info.name == "samples" ? "samples" : info.name + " samples",
                       model::AmountIn(info.period.unit, static_cast<double>(info.period.value)));
  }
  if (info.is_samples()) return fmt::format("{} in {}, sampled", info.name, info.unit);
  if (!info.is_disturbed()) return fmt::format("{} in {}, exact", info.name, info.unit);
  const std::string calibrated = column.calibrated
                                     ? "calibrated with " + source.table_from
                                     : "UNCALIBRATED: the profiler's own cost is in it";
  return fmt::format("{} in {}, {}", info.name, info.unit, calibrated);
}

// Returns the interval of a measured amount. The error of an inclusive amount is the sum of the
// errors below it, which is conservative.
model::Estimate Measured(double value, double error) {
  return {value, value - model::kDeviations95 * error, value + model::kDeviations95 * error};
}

// Returns part / (part + remainder). Both are uncertain; a part that is the whole has a share of
// exactly 1.
model::Estimate MeasuredShare(const model::Amount& part, const model::Amount& whole) {
  if (!(whole.value > 0)) return {0, 0, 1};
  const double share = part.value / whole.value;
  const double rest_error = std::max(0.0, whole.error - part.error);
  const double error = std::hypot((1 - share) * part.error, share * rest_error) / whole.value;
  model::Estimate estimate = Measured(share, error);
  if (!(share >= 0 && share <= 1)) return estimate;  // over-calibrated, or the remainder is
  estimate.low = std::max(estimate.low, 0.0);
  estimate.high = std::min(estimate.high, 1.0);
  return estimate;
}

}  // namespace

Result<model::Forest> LoadSide(model::Source& source, const std::string& metric) {
  if (source.reader.meta().metrics.empty()) {
    return WrongUse(
        "{} has no metric: calls alone do not tell what "
        "costs; profile with jprof callflow or jprof scs",
        source.reader.shown());
  }
  model::ForestOptions options;
  options.merged = true;
  options.metric = metric.empty() ? source.reader.meta().metrics[0].name : metric;
  return model::LoadForest(source, options);
}

Side SideOf(const model::Source& source, const model::Forest& forest) {
  const model::MetricTotals& column = forest.metrics[0];
  const profile::Window* const window = source.reader.window();
  const profile::Piece& piece = source.reader.meta().piece;
  Side side = {.directory = profile::CleanText(source.reader.shown()),
               .mode = source.reader.meta().mode,
               .how = HowText(source, forest) +
                      (window != nullptr ? "; window " + profile::CleanText(window->Text()) : "") +
                      (piece.number != 0 ? "; " + piece.Text() : ""),
               .metric = column.info.name};
  const bool stands_for = column.counts == 0 && column.info.period.value > 0;
  side.unit = stands_for ? column.info.period.unit : column.info.unit;
  side.sampled = column.info.is_samples();
  side.counted = column.counts != model::MetricTotals::kNoCounts;
  if (side.sampled && !side.counted)
    side.notes.push_back(
        "the number of samples behind its values is not known: every difference may be chance");
  for (const profile::Loss& loss : profile::Losses(source.reader)) {
    if (loss.count > 0)
      side.notes.push_back(fmt::format("lost: {} {}", loss.count, loss.description));
  }
  for (const std::string& damage : source.reader.damages().Lines())
    side.notes.push_back("damaged: " + damage);
  side.quality = QualityOf(source, forest);
  if (side.sampled && !side.counted) {
    side.quality.Add({{"unknown_samples", 1, Severity::kMajor,
                       "the number of samples behind the values is not known", "",
                       "Every difference may be chance.", ""}});
  }
  return side;
}

void MeasureSide(const model::JointTree& tree, size_t index, Side& side) {
  side.inside = {};
  for (size_t i = 1; i < tree.contexts.size(); ++i) side.inside += tree.contexts[i].self[index];
  side.outside = tree.contexts[0].self[index];
}

Result<void> CheckSide(const Side& side) {
  if (side.inside.value > 0 && (!side.counted || side.inside.samples > 0)) return {};
  return WrongUse("{}: nothing of '{}' was {} in any method: there is nothing to compare{}",
                  side.directory, side.metric, side.sampled ? "sampled" : "measured",
                  side.notes.empty() ? "" : " (" + side.notes.back() + ")");
}

std::string AmountOf(const Side& side, const model::Amount& amount) {
  return side.unit == "ns" ? Duration(amount.value) : model::AmountIn(side.unit, amount.value);
}

model::Estimate AbsoluteOf(const Side& side, const model::Amount& part) {
  if (!side.sampled) return Measured(part.value, part.error);
  if (!side.counted) return {part.value, 0, std::max(part.value, side.inside.value)};
  const double one =
      part.samples > 0 ? part.value / part.samples : side.inside.value / side.inside.samples;
  return model::Scaled(model::Poisson(part.samples), one);
}

model::Estimate ShareOf(const Side& side, const model::Amount& part, const model::Amount& whole) {
  const double share = whole.value > 0 ? part.value / whole.value : 0;
  if (!side.sampled) return MeasuredShare(part, whole);
  if (!side.counted) return {share, 0, 1};
  const model::Estimate counted = model::Wilson(part.samples, whole.samples);
  if (!(counted.value > 0)) return {share, std::min(0.0, share), std::max(share, counted.high)};
  // A weighted metric has the interval of the number of samples, scaled by what one sample weighs.
  const model::Estimate weighted = model::Scaled(counted, share / counted.value);
  return {share, weighted.low, std::clamp(weighted.high, share, std::max(share, 1.0))};
}

}  // namespace jprof::reports
