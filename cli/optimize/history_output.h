// Prints what the database of `jprof optimize` knows.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "cpo/database/records.h"
#include "cpo/optimize/optimizer.h"

namespace jprof::cli {

// Prints a row for each program, and the agents.
void PrintOptimizeStatus(const std::vector<cpo::History>& histories);

// Prints the directives of the programs: what was predicted, what was observed, why they are in
// their states; and the runs.
void PrintOptimizeExplanation(const std::vector<cpo::History>& histories);

// Prints the same as either of these as a JSON document.
Result<void> PrintOptimizeJson(const std::vector<cpo::History>& histories);

// Prints what the next run would do, and how the program would be started.
void PrintPlannedRun(const std::string& name, const cpo::PlannedRun& planned);

// Returns the lines of the help about the agents.
std::string AgentsText();

}  // namespace jprof::cli
