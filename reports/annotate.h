// Instructions of symbols with the ticks beside each, as text.
#pragma once

#include <functional>
#include <string>

#include "reports/recording.h"

namespace jprof::reports {

// Calls `visit` for each of the `most` symbols with the most ticks. Code at one address: a method
// that was compiled twice is visited twice. Error: Capstone cannot read this machine's code.
Result<void> AnnotateHottest(
    Recording& recording, const TickTable& table, size_t most,
    const std::function<void(const std::string& module, const std::string& symbol,
                             const std::string& text)>& visit);

}  // namespace jprof::reports
