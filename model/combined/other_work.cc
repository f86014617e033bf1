#include "model/combined/other_work.h"

#include <fmt/format.h>

#include <cmath>

#include "model/values/amount.h"

namespace jprof::model {
namespace {

// So many times more or less time is other work, not chance.
constexpr double kOtherWork = 2;
// Standard deviations that chance is allowed.
constexpr double kChance = 3;

}  // namespace

std::string OtherWork(const Refitting& refitting) {
  const double left = refitting.raw - refitting.refitted;
  const double shown = refitting.sampled - refitting.uncounted;
  const double arm = kChance * std::hypot(refitting.error, shown / std::sqrt(refitting.samples));
  const bool is_far = left - arm > kOtherWork * shown || shown - arm > kOtherWork * left;
  const bool is_below_0 = refitting.refitted + kChance * refitting.error < 0;
  if (!is_far && !is_below_0) return "";
  const auto amount = [&](double raw) { return AmountIn(refitting.unit, raw * refitting.scale); };
  return fmt::format(
      "the runs did not do the same work: methods take {} in the counted run, of which the "
      "profiler's cost would be {}, and {} by {}",
      amount(refitting.raw), amount(refitting.refitted), amount(shown), SamplesText(refitting));
}

}  // namespace jprof::model
