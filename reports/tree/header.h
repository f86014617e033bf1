// Prints the head of a report: what was profiled and what is missing. metric_head.h and
// stack_head.h print how far its metrics and its stacks can be trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/tree/source.h"
#include "reports/print/formats.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints the title, the run and the threads. `report` is the report's name.
void PrintRun(const model::Source& source, std::string_view report, Output& out);

// Writes the members "report" and "profile", which describe the run.
void JsonRun(const model::Source& source, std::string_view report, JsonWriter& json);

// Prints losses and damages, or one line if there are none.
void PrintLosses(const model::Source& source, Output& out);

// Writes the members "losses" and "damages" of a JSON report.
void JsonLosses(const model::Source& source, JsonWriter& json);

// Adds remarks for formats without a head, about what the head would report as missing and about
// folded recursion. Standard error reports them.
void RemarkLosses(const model::Source& source, Format format, Output& out);

// Returns "1.234 s elapsed", or that the run is not finished.
std::string ElapsedText(const profile::ControlHeader& header);

// Converts ticks to seconds. Returns 0 if the profile does not have the tick rate.
double SecondsBetween(const profile::ControlHeader& header, uint64_t from, uint64_t to);

}  // namespace jprof::reports
