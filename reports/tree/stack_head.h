// Writes what a JSON report states about the sampled stacks.
#pragma once

#include "model/tree/source.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Writes the member "stacks": the share of the CPU time that the stacks cover, their number,
// quality and cost.
void JsonStacks(const model::Source& source, JsonWriter& json);

}  // namespace jprof::reports
