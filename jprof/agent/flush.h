// What `jprof ctl flush` does: a profile that survives a crash of the machine, not only of the
// program. Plain POSIX.
#pragma once

#include "common/result.h"

namespace jprof::agent {

// When it returns, all files in the folder, with what was written into mappings of them before, and
// their names are on the disk. Waits for the disk; holds no lock. Error: the file and why.
Result<void> FlushFolder(int directory_fd);

}  // namespace jprof::agent
