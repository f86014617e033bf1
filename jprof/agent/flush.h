// Implements `jprof ctl flush`: afterwards the profile survives a crash of the machine, not only of
// the program. Uses POSIX only.
#pragma once

#include "common/result.h"

namespace jprof::agent {

// Writes all files in the folder, including earlier writes to their mappings, and the folder's
// entries to the disk. Waits for the disk; holds no lock. The error names the file and the reason.
Result<void> FlushFolder(int directory_fd);

}  // namespace jprof::agent
