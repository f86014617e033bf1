// Prints how the calls and times of each method and context grow with the size of the input
// (docs/SCALE.md).
#pragma once

#include "model/scale/scale.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

// Fails if LoadScale does.
Result<void> PrintScale(model::Scale& scale, const Options& options, Output& out);

// Returns "n^2.00", "n log n" or "n^0"; with a "?" behind it if the counts are off that law by
// more than kIrregular. Returns "-" if there is none.
std::string LawText(const std::optional<model::Scaling>& law);
inline constexpr double kIrregular = 0.1;

}  // namespace jprof::reports
