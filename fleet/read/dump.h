// Writes the tables of a selection as files that other databases read.
#pragma once

#include <cstddef>
#include <string>

#include "common/result.h"
#include "fleet/read/selection.h"

namespace jprof::fleet {

// Writes runs, counts, contexts and frames into the folder, which is made if it does not exist: as
// CSV with a line of names, or as JSON, one object a line. Fingerprints are in hexadecimal digits.
// Returns the number of runs. Rows are written as they arrive, so it needs little memory. Fails if
// a file cannot be written, or if the server cannot answer.
Result<size_t> Dump(Server& server, const Selection& selection, const std::string& folder,
                    bool json);

}  // namespace jprof::fleet
