// The cost of a timer's interrupt on this machine, measured once and stored with the calibration
// tables, and the sampling rates that it allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/cpu_sampler.h"

namespace jprof::record {

// The stored cost, in ns; none: not measured yet.
std::optional<uint64_t> KnownInterruptNanos();

// Measures and stores the cost; takes half a second. A failure to store it is ignored.
Result<uint64_t> MeasureAndKeepInterruptNanos();

// The cost as text: "33.0 us, timers of up to 6000 samples a second".
std::string InterruptText(uint64_t ns);

// The cost for sampling at `rate`, in ns, measured if it is not known. Returns 0 if `rate` is
// allowed at any cost, or if the cost could not be measured; `notes` then reports it.
uint64_t InterruptNanosFor(uint64_t rate, std::vector<std::string>& notes);

// Lowers the rate, or increases the period of a timer, if interrupts cost too much; `notes` reports
// it. Wrong use: a rate above ptm::kMostRate.
Result<void> LimitSampler(ptm::CpuSamplerOptions& sampling, bool forced,
                          std::vector<std::string>& notes);

}  // namespace jprof::record
