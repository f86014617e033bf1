// What `jprof doctor` says about pushing profiles to servers.
#pragma once

#include <string>

#include "record/doctor/doctor_check.h"

namespace jprof::cli {

// Checks the HTTP library, and the folder of profiles that could not be sent. Connects to nothing.
record::DoctorChecks CheckPush(const std::string& spool);

}  // namespace jprof::cli
