// What a timer's interrupt costs on this machine, measured once and kept beside the calibration
// tables, and the sampling rates that it allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/sampler.h"

namespace jprof::record {

// The figure that is kept, in ns; nothing: none yet.
std::optional<uint64_t> KnownInterruptNanos();

// Measures and keeps it: half a second. A figure that cannot be kept is used all the same.
Result<uint64_t> MeasureAndKeepInterruptNanos();

// "33 us, timers of up to 6,000 samples a second": what people are shown of the figure.
std::string InterruptText(uint64_t ns);

// For one that samples at `rate`: the figure, measured if there is none; 0: `rate` is fine whatever
// the figure, or it could not be measured (then `notes` says so).
uint64_t InterruptNanosFor(uint64_t rate, std::vector<std::string>& notes);

// Lowers the rate, or the period of a clock, where an interrupt costs too much; `notes` says so.
// Error (exit code 2): above ptm::kMostRate.
Result<void> LimitSampler(ptm::SamplerOptions& sampling, bool forced,
                          std::vector<std::string>& notes);

}  // namespace jprof::record
