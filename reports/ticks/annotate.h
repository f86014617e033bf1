// Prints the instructions of symbols as text, with the ticks beside each.
#pragma once

#include <functional>
#include <string>

#include "model/ticks/recording.h"

namespace jprof::reports {

// The code at one address. A method that was compiled twice has two of these.
struct AnnotatedSymbol {
  uint32_t pid = 0;               // the process; a2n::kKernel for kernel code
  uint32_t module = 0, name = 0;  // in TickTable::names
  std::string text;
};

// Calls `visit` for each of the `most` symbols with the most ticks. Fails if Capstone cannot read
// this machine's code.
Result<void> AnnotateHottest(model::Recording& recording, const model::TickTable& table,
                             size_t most,
                             const std::function<void(const AnnotatedSymbol& symbol)>& visit);

}  // namespace jprof::reports
