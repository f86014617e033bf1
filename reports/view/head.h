// Describes a profile for the first screen of the HTML view: metadata, losses, uncertainty.
#pragma once

#include "reports/tree/forest.h"
#include "reports/tree/source.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Adds the run, the JVM, what was merged, losses and damages.
void DescribeRun(const Source& source, ViewData& data);

// Adds what is not calibrated or not exact, and how much overhead was subtracted.
void DescribeUncertainty(const Source& source, const Forest& forest, ViewData& data);

// Returns the description of a metric, for the header.
nlohmann::json DescribeMetric(const MetricTotals& metric);

}  // namespace jprof::reports
