// Summarises for `jprof doctor` which commands work. Pure.
#pragma once

#include <string>
#include <vector>

#include "record/doctor/doctor_jvms.h"
#include "record/doctor/doctor_machine.h"

namespace jprof::record {

struct DoctorFindings {
  DoctorMachine machine;
  std::string why_no_agent;  // why the agent library was not found; "" if it was
  std::string agent;         // its path
  bool trainers = false;     // the files that `jprof calibrate` runs are installed
  std::vector<TestedJvm> jvms;
};

// Returns whether at least one JVM can be profiled.
bool CanProfile(const DoctorFindings& findings);

// Returns all checks but those of the machine: the agent, the trainers, the JVMs, attaching.
DoctorChecks CheckJava(const DoctorFindings& findings, std::time_t now);

// Returns one row for each group of commands; `name` has the commands.
DoctorChecks SummaryOf(const DoctorFindings& findings);

}  // namespace jprof::record
