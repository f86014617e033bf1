#include "reports/print/estimate_text.h"

#include "reports/print/units.h"

namespace jprof::reports {
namespace {

double Half(const model::Estimate& estimate) { return (estimate.high - estimate.low) / 2; }

}  // namespace

std::string EstimatedText(double value) { return "~" + Duration(value); }

std::string BoundedText(const model::Estimate& estimate) {
  if (Half(estimate) > estimate.value) return "<" + Duration(estimate.high);
  return Duration(estimate.value);
}

std::string HalfText(const model::Estimate& estimate) {
  return Half(estimate) > estimate.value ? "" : Duration(Half(estimate));
}

ShownTime OfOneCall(const ShownTime& whole, uint64_t calls) {
  const double part = 1 / static_cast<double>(calls);
  return {model::Scaled(whole.sampled, part), whole.is_estimated, whole.estimated * part};
}

std::string ValueText(const ShownTime& time) {
  return time.is_estimated ? EstimatedText(time.estimated) : BoundedText(time.sampled);
}

std::string ArmText(const ShownTime& time) {
  return time.is_estimated ? "<" + Duration(time.sampled.high) : HalfText(time.sampled);
}

}  // namespace jprof::reports
