// Implements `jprof ctl flush`: afterwards the profile survives a crash of the machine, not only of
// the program. The client waits for the disk, because a waiting thread of the program would delay
// the program's exit.
#pragma once

#include "common/result.h"

namespace jprof::record {

// Writes all files in the folder, including earlier writes to their mappings, and the folder's
// entries to the disk. Fails with the name of the file and the reason.
Result<void> FlushFolder(int directory_fd);

}  // namespace jprof::record
