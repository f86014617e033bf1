// The door for profiles that are in the database of a fleet: a URL becomes a directory.
#pragma once

#include <initializer_list>
#include <string>

#include "common/result.h"

namespace jprof::cli {

// Replaces a URL of a fleet (clickhouse://HOST/DATABASE?...) by the directory of a profile with the
// sums of the runs that it selects, and says so on stderr. The directory is temporary and removed
// when the program ends. Leaves other names as they are. Fails if the URL is wrong, if the server
// does not answer, or if the runs cannot be added.
Result<void> FetchIfUrl(std::string& named);
Result<void> FetchIfUrl(std::initializer_list<std::string*> named);

}  // namespace jprof::cli
