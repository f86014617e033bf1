#include "ptm/sampling_rate.h"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <algorithm>

namespace jprof::ptm {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// Rounds down to two digits for messages: 6060 to 6000, 19,999 to 19,000.
uint64_t TwoDigits(uint64_t number) {
  uint64_t unit = 1;
  while (number / unit >= 100) unit *= 10;
  return number / unit * unit;
}

std::string WithCommas(uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), 1, ',');
  return text;
}

std::string Microseconds(uint64_t ns) {
  return ns < 10'000 ? fmt::format("{:.1f} us", static_cast<double>(ns) / 1000)
                     : fmt::format("{} us", (ns + 500) / 1000);
}

}  // namespace

LimitedRate LimitRate(uint64_t rate, uint64_t interrupt_ns, bool forced) {
  const bool measured = interrupt_ns != 0;
  const uint64_t cost = measured ? interrupt_ns : kAssumedInterruptNs;
  if (forced || rate <= kSecond / (kLeastCosts * cost)) return {rate, ""};
  const uint64_t least = std::max<uint64_t>(1, TwoDigits(kSecond / (kLeastCosts * cost)));
  return {least, fmt::format("sampling at {}/s instead of {}/s: an interrupt {} {} here",
                             WithCommas(least), WithCommas(rate),
                             measured ? "costs" : "is assumed to cost", Microseconds(cost))};
}

uint64_t RateOf(uint64_t period) { return (kSecond + period - 1) / period; }

bool CountsTime(const EventSpec& event) {
  return event.type == PERF_TYPE_SOFTWARE &&
         (event.config == PERF_COUNT_SW_CPU_CLOCK || event.config == PERF_COUNT_SW_TASK_CLOCK);
}

}  // namespace jprof::ptm
