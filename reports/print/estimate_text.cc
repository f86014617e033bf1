#include "reports/print/estimate_text.h"

#include <fmt/format.h>

namespace jprof::reports {
namespace {

double Half(const model::Estimate& estimate) { return (estimate.high - estimate.low) / 2; }

}  // namespace

std::string Milliseconds(double value) {
  return value < 99.95e6 ? fmt::format("{:.1f}", value / 1e6) : fmt::format("{:.0f}", value / 1e6);
}

std::string PerCall(double value) {
  return value < 999.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::string EstimatedText(double value, NumberText* text) { return "~" + text(value); }

std::string BoundedText(const model::Estimate& estimate, NumberText* text) {
  if (Half(estimate) > estimate.value) return "<" + text(estimate.high);
  return text(estimate.value);
}

std::string HalfText(const model::Estimate& estimate, NumberText* text) {
  return Half(estimate) > estimate.value ? "" : text(Half(estimate));
}

ShownTime OfOneCall(const ShownTime& whole, uint64_t calls) {
  const double part = 1 / static_cast<double>(calls);
  return {model::Scaled(whole.sampled, part), whole.is_estimated, whole.estimated * part};
}

std::string ValueText(const ShownTime& time, NumberText* text) {
  return time.is_estimated ? EstimatedText(time.estimated, text) : BoundedText(time.sampled, text);
}

std::string ArmText(const ShownTime& time, NumberText* text) {
  return time.is_estimated ? "<" + text(time.sampled.high) : HalfText(time.sampled, text);
}

}  // namespace jprof::reports
