// Prints how a calibration table fits the samples of a program.
#pragma once

#include "model/combined/refit.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Prints the output of `jprof calibrate --check`.
void PrintRefitting(const model::Source& counted, const model::Refitting& refitting, Output& out);

}  // namespace jprof::reports
