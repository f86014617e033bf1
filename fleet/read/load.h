// Makes an ordinary profile of what a selection of a fleet has recorded: as `jprof merge` makes it
// of the same profiles, but the server adds up.
//
// - Counts, samples, objects and counters are exact. Times of processes with another rate of the
//   clock are rounded to that of the first run.
// - Contexts with less than the asked share of everything are summed into one row under their
//   caller, so that all totals are complete.
// - The spread over runs is that of at most kSpreadRuns of them, drawn at random.
// - Memory is needed for the contexts of the selection, and for a page of its runs.
#pragma once

#include <string>

#include "common/result.h"
#include "fleet/read/selection.h"

namespace jprof::fleet {

inline constexpr size_t kSpreadRuns = 1000;

struct Loaded {
  size_t runs = 0, contexts = 0;
  size_t hidden = 0;  // contexts that were summed into rows of their callers
};

// Writes the profile into `directory`, which exists and is empty. Fails if no run is selected, if
// the selected runs cannot be added, or if the server cannot answer.
Result<Loaded> Load(Server& server, const Selection& selection, const std::string& directory);

}  // namespace jprof::fleet
