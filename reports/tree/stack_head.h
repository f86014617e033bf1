// Prints what the head of a report states about the sampled stacks.
#pragma once

#include "model/tree/source.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints the share of the CPU time that the stacks cover, their number, quality and cost. Prints
// nothing if no stacks were taken.
void PrintStacks(const model::Source& source, Output& out);

// Writes the same as the member "stacks" of a JSON report.
void JsonStacks(const model::Source& source, JsonWriter& json);

}  // namespace jprof::reports
