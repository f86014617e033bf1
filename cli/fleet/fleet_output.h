// Prints the answers to questions about a fleet.
#pragma once

#include "fleet/read/questions.h"
#include "reports/print/formats.h"

namespace jprof::cli {

Result<void> PrintTop(const fleet::Top& top, reports::Format format, size_t width);
Result<void> PrintHistory(const fleet::History& history, reports::Format format, size_t width);
Result<void> PrintOutliers(const fleet::Outliers& outliers, reports::Format format, size_t width);

}  // namespace jprof::cli
