// Opens a profile named on the command line and its calibration table.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "model/open/open.h"

namespace jprof::cli {

using model::TableChoice;

// Returns the name of the newest profile in the working directory, or "" if there is none. With
// `combined`, it may be a combined profile or a result of jprof scale.
std::string FindNewestProfile(bool combined);

// Returns the same and prints it on stderr. Fails with kWrongUse if there is none.
Result<std::string> NewestProfile(bool combined);

// Returns `directory`, or the busiest of several profiles in it, whose name it prints on stderr.
std::string BusiestIn(const std::string& directory);

// Fails if the directory has events of the kernel and is not a profile. `done` says what cannot be
// done with events ("merged"); the message names the profiles in it, with which it can.
Result<void> RefuseEvents(const std::string& directory, std::string_view done);

// Prints on stderr what was missing in the events that were loaded, for outputs that do not say it.
void PrintEventLosses(const model::Input& input);

// Opens a profile, which is the newest one in the working directory if `directory` is empty; its
// name is then printed on stderr. Fails if there is no profile (the message names the nearest), or
// if the table does not fit.
Result<model::Source> OpenProfile(const std::string& directory, const TableChoice& choice);

// Opens a profile to compare it with another one, as OpenProfile does. Of a combined profile it
// opens the first sampled run, whose name it prints on stderr. The costs of a table are as trained,
// so that both are corrected alike. Fails for anything else; the message states what can be done
// with it.
Result<model::Source> OpenComparable(const std::string& directory, const TableChoice& choice);

// Opens the directory as what it is, of several profiles the busiest. Fails as OpenProfile does.
Result<model::Input> OpenNamed(const std::string& directory, const TableChoice& choice);

}  // namespace jprof::cli
