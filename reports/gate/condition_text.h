// Prints what a condition blames, as text.
#pragma once

#include "reports/gate/gate_report.h"

namespace jprof::reports {

// Prints the methods and contexts that grew; nothing if there are none.
void PrintCondition(const GateReport& report, const ConditionVerdict& verdict, Output& out);

}  // namespace jprof::reports
