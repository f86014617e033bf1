// Identifies this machine, for what was measured or learned on it and is kept.
#pragma once

#include "calibrate/model/table.h"

namespace jprof::record {

// Returns the architecture, the processor, the kernel's release and whether the machine is virtual.
calibrate::Fingerprint ThisMachine();

}  // namespace jprof::record
