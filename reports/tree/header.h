// Describes the run of a profile for the head of its reports, and writes the members of JSON
// reports about the run and its losses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/tree/source.h"
#include "reports/print/formats.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"
#include "reports/quality/head.h"

namespace jprof::reports {

// Returns the title and the lines about the run. `report` is the report's name.
Head RunHead(const model::Source& source, std::string_view report);

// Writes the members "report" and "profile", which describe the run.
void JsonRun(const model::Source& source, std::string_view report, JsonWriter& json);

// Writes the members "losses", "damages" and "quality" of a JSON report.
void JsonLosses(const model::Source& source, const Quality& quality, JsonWriter& json);

// Adds remarks for formats without a head, about what the head would report as missing and about
// folded recursion. Standard error reports them.
void RemarkLosses(const model::Source& source, Format format, Output& out);

// Returns "1.23 s elapsed", or that the run is not finished.
std::string ElapsedText(const profile::ControlHeader& header);

// Converts ticks to seconds. Returns 0 if the profile does not have the tick rate.
double SecondsBetween(const profile::ControlHeader& header, uint64_t from, uint64_t to);

}  // namespace jprof::reports
