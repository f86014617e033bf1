// Plans a calibration: finds the JVM, the agent and the trainers before anything is started.
#pragma once

#include <string>
#include <vector>

#include "calibrate/train/training.h"
#include "common/result.h"

namespace jprof::record {

// Holds the options as typed.
struct CalibrationRequest {
  std::string java;              // a java program or the folder of a JDK; empty for the usual one
  std::string agent;             // the agent library; empty for the usual one
  std::string metrics = "time";  // names that a user may give
  std::string output;            // the file of the table; empty for the usual one
  std::string work;              // the directory for the trainers' files; empty for a temporary one
  bool quick = false;
  bool hooks = false;   // calibrate the hooks of C and C++ functions instead of a JVM
  bool itrace = false;  // also count the instructions of each transition
};

// Returns one plan, or with `hooks` one for each kind of hooks that this jprof was built with. The
// working directory is not set. Prints notes for the user. Fails with kWrongUse if there is no
// such JVM or metric, otherwise if this jprof was built without what is needed.
Result<std::vector<calibrate::Plan>> PlanCalibration(const CalibrationRequest& request);

// Returns a plan with the same trainers, whose instructions are counted by tracing even where
// counters are available.
calibrate::Plan TracedPlan(calibrate::Plan plan);

}  // namespace jprof::record
