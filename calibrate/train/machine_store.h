// What was measured of the machine, whatever JVM runs on it: one small file per machine beside the
// tables. So far it is what a timer's interrupt costs (ptm/interrupt_cost.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "calibrate/model/table.h"
#include "common/result.h"

namespace jprof::calibrate {

// Its name ends in .machine: it is no table.
std::filesystem::path MachinePath(const Fingerprint& machine);

// Nothing: it was not measured on this machine yet, or the file is damaged.
std::optional<uint64_t> FindInterruptNanos(const Fingerprint& machine);
Result<std::filesystem::path> SaveInterruptNanos(const Fingerprint& machine, uint64_t ns);

}  // namespace jprof::calibrate
