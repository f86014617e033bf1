// Prints calibration tables for people.
#pragma once

#include "calibrate/store/table_store.h"
#include "record/calibrate/calibration.h"
#include "reports/print/output.h"

namespace jprof::cli {

// Prints a stored table: where it fits, and the overheads in clock ticks.
void PrintTable(const calibrate::StoredTable& stored, reports::Output& out);

// Prints what a calibration found, where its table is, and the next command.
void PrintCalibration(const record::CalibrationResult& done, const calibrate::Plan& plan,
                      reports::Output& out);

}  // namespace jprof::cli
