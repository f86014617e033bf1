// Stores measurements of the machine that do not depend on the JVM, in one small file per machine
// beside the tables. It contains the cost of a timer interrupt (ptm/interrupt_cost.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "calibrate/model/table.h"
#include "common/result.h"

namespace jprof::calibrate {

// Returns the path of the file. Its name ends in .machine, so that it is not taken for a table.
std::filesystem::path MachinePath(const Fingerprint& machine);

// Returns nothing if it was not measured on this machine yet, or the file is damaged.
std::optional<uint64_t> FindInterruptNanos(const Fingerprint& machine);
Result<std::filesystem::path> SaveInterruptNanos(const Fingerprint& machine, uint64_t ns);

}  // namespace jprof::calibrate
