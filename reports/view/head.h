// Describes a profile for the first screen of the HTML view: metadata, losses, uncertainty.
#pragma once

#include <string>
#include <vector>

#include "model/tree/forest.h"
#include "model/tree/source.h"
#include "reports/quality/quality.h"
#include "reports/view/view_data.h"

namespace jprof::reports {

// Returns "name (tid 77)" for each thread, or only the name if the thread has no id.
std::vector<std::string> ThreadTexts(const profile::Reader& reader);

// Adds the run, the JVM, what was merged, losses and damages.
void DescribeRun(const model::Source& source, ViewData& data);

// Adds what is not calibrated or not exact, and how much overhead was subtracted.
void DescribeUncertainty(const model::Source& source, const model::Forest& forest, ViewData& data);

// Writes the member "quality" of the header, as in JSON reports: how far the numbers can be
// trusted, the worst facts first.
void DescribeQuality(const Quality& quality, ViewData& data);

// Returns the description of a metric, for the header.
nlohmann::json DescribeMetric(const model::MetricTotals& metric);

}  // namespace jprof::reports
