// Trains a calibration table and stores it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "calibrate/train/training.h"
#include "common/result.h"
#include "record/calibrate/calibration_plan.h"

namespace jprof::record {

struct CalibrationResult {
  calibrate::Trained trained;
  bool traced = false;         // the table has the instructions of each transition
  int lowered = 0;             // overheads that were lowered because of these
  Result<uint64_t> interrupt;  // the cost of a timer interrupt in ns
  std::filesystem::path path;  // of the table
  double seconds = 0;          // that it took
};

// Trains as `plan` states and stores the table, and the cost of a timer interrupt. Sets the plan's
// working directory. A signal to this process ends it early; no table is then stored.
Result<CalibrationResult> Calibrate(calibrate::Plan plan, const CalibrationRequest& request);

}  // namespace jprof::record
