// Prints what the database of `jprof optimize` knows.
#pragma once

#include <string>
#include <vector>

#include "cli/shared/page_output.h"
#include "common/result.h"
#include "cpo/database/records.h"
#include "cpo/optimize/optimizer.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {

// Prints a row for each program, and the agents.
void PrintOptimizeStatus(const std::vector<cpo::History>& histories);

// Prints the directives of the programs: what was predicted, what was observed, why they are in
// their states; and the runs.
void PrintOptimizeExplanation(const std::vector<cpo::History>& histories);

// Writes the same as either of these as a JSON document.
void WriteOptimizeJson(const std::vector<cpo::History>& histories, reports::JsonWriter& json);

// Shows that document as a page: predicted against observed benefits (docs/VIEW.md). There must be
// a program.
Result<void> ShowOptimizePage(const std::vector<cpo::History>& histories, const PageChoice& choice);

// Prints what the next run would do, and how the program would be started.
void PrintPlannedRun(const std::string& name, const cpo::PlannedRun& planned);

// Returns the lines of the help about the agents.
std::string AgentsText();

}  // namespace jprof::cli
