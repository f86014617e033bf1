// Measures the cost of a timer's interrupt on this machine once, stores it with the calibration
// tables, and limits sampling rates accordingly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/cpu_sampler.h"

namespace jprof::record {

// Returns the stored cost in ns, or nothing if it has not been measured.
std::optional<uint64_t> KnownInterruptNanos();

// Measures and stores the cost, which takes half a second. A failure to store it is ignored.
Result<uint64_t> MeasureAndKeepInterruptNanos();

// Returns the cost as text: "33.0 us, timers of up to 6000 samples a second".
std::string InterruptText(uint64_t ns);

// Returns the cost in ns for sampling at `rate`, which is measured if it is not known. Returns 0 if
// `rate` is allowed at any cost, or if the cost could not be measured; `notes` then reports it.
uint64_t InterruptNanosFor(uint64_t rate, std::vector<std::string>& notes);

// Lowers the rate, or increases the period of a timer, if interrupts cost too much; `notes` reports
// it. Fails with kWrongUse if the rate is above ptm::kMostRate.
Result<void> LimitSampler(ptm::CpuSamplerOptions& sampling, bool forced,
                          std::vector<std::string>& notes);

}  // namespace jprof::record
