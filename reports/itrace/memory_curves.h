// Prints how many references of a trace would miss in caches of each size.
#pragma once

#include <cstdint>
#include <string>

#include "model/itrace/memory_use.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Returns "1.5 MiB", or "2 MiB" without a fraction.
std::string SizeText(uint64_t bytes);

// Prints a table of the misses for each size of pieces that was referred to.
void PrintCurves(const model::MemoryUse& use, Output& out);
// Writes the member `reuse`, which also has the distances.
void JsonCurves(const model::MemoryUse& use, JsonWriter& json);

}  // namespace jprof::reports
