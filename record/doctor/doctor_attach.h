// Checks whether the user of `jprof doctor` can record running JVMs (--pid).
#pragma once

#include <string>
#include <vector>

#include "record/doctor/doctor_jvms.h"
#include "record/doctor/doctor_machine.h"

namespace jprof::record {

// Tries what attaching needs apart from a JVM: files in `folder`, the /tmp of JVMs that share it,
// and a descriptor of a process. Leaves nothing behind.
Attempt TryAttaching(const std::string& folder);

// Checks which JVMs can be attached to, and for which commands. Pure.
DoctorCheck CheckAttaching(const DoctorMachine& machine, const std::vector<TestedJvm>& jvms);

}  // namespace jprof::record
