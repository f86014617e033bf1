#include "record/run/interrupt_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/train/machine_store.h"
#include "ptm/interrupt_cost.h"
#include "ptm/sampling_rate.h"
#include "record/run/status_line.h"
#include "record/run/this_machine.h"

namespace jprof::record {

std::optional<uint64_t> KnownInterruptNanos() {
  const auto ns = calibrate::FindInterruptNanos(ThisMachine());
  if (!ns || *ns < ptm::kLeastInterruptNs || *ns > ptm::kMostInterruptNs) return std::nullopt;
  return ns;
}

Result<uint64_t> MeasureAndKeepInterruptNanos() {
  StatusLine line;
  line.Show("jprof: measuring the cost of an interrupt on this machine, once");
  const auto ns = ptm::MeasureInterruptNanos();
  if (ns) (void)calibrate::SaveInterruptNanos(ThisMachine(), *ns);
  return ns;
}

std::string InterruptText(uint64_t ns) {
  return fmt::format("{:.1f} us, timers of up to {} samples a second",
                     static_cast<double>(ns) / 1000,
                     ptm::LimitRate(ptm::kMostRate, ns, false).rate);
}

uint64_t InterruptNanosFor(uint64_t rate, std::vector<std::string>& notes) {
  if (rate <= ptm::kAlwaysFineRate) return 0;
  if (const auto known = KnownInterruptNanos()) return *known;
  const auto measured = MeasureAndKeepInterruptNanos();
  if (measured) return *measured;
  notes.push_back(
      fmt::format("cannot measure the cost of an interrupt on this machine ({}): {} us are assumed",
                  measured.error().message, ptm::kAssumedInterruptNs / 1000));
  return 0;
}

Result<void> LimitSampler(ptm::CpuSamplerOptions& sampling, bool forced,
                          std::vector<std::string>& notes) {
  const bool by_rate = sampling.rate != 0;
  if (!by_rate && !ptm::CountsTime(sampling.event)) return {};
  const uint64_t rate = by_rate ? sampling.rate : ptm::RateOf(sampling.period);
  if (rate > ptm::kMostRate) {
    if (by_rate) return WrongUse("--rate: {} is above the limit of {}", rate, ptm::kMostRate);
    return WrongUse("--period: {} ns of {} are below the limit of {} ns", sampling.period,
                    sampling.event.name, ptm::kShortestClockPeriod);
  }
  if (forced) return {};
  const auto limited = ptm::LimitRate(rate, InterruptNanosFor(rate, notes), forced);
  if (limited.reason.empty()) return {};
  notes.push_back(limited.reason);
  if (by_rate)
    sampling.rate = limited.rate;
  else
    sampling.period = 1'000'000'000 / limited.rate;
  return {};
}

}  // namespace jprof::record
