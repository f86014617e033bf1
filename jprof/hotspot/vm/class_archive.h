// Finds out whether the VM writes an archive of its classes: class data sharing, AOT caches.
#pragma once

#include <string>

#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

// Returns the option by which this VM writes an archive of its classes when it ends or on
// request, or an empty string if it writes none. A VM that has replaced classes crashes while it
// writes (JDK 17 to 25).
std::string ArchiveOption(const VmStructs& structs);

}  // namespace jprof::hotspot
