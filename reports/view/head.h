// What the first screen of the HTML view says of a profile: facts, losses, uncertainty.
#pragma once

#include "reports/forest.h"
#include "reports/source.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// The run, the JVM, what was merged, losses and damages.
void DescribeRun(const Source& source, ViewData& data);

// What is not calibrated or not exact, and how much overhead was subtracted.
void DescribeUncertainty(const Source& source, const Forest& forest, ViewData& data);

// A metric for the header.
nlohmann::json DescribeMetric(const MetricTotals& metric);

}  // namespace jprof::reports
