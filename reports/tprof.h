// tprof: where the whole machine spent its time, flat: the ticks of a recording as the eight
// classic stanzas, and other views of them.
#pragma once

#include <string>
#include <string_view>

#include "reports/output.h"
#include "reports/recording.h"
#include "reports/source.h"

namespace jprof::reports {

struct TprofOptions {
  Format format = Format::kText;
  double clip = 0;       // rows below this percentage of all ticks are summed up in one
  bool by_line = false;  // source lines below the symbols of Module_Symbol
  // Instead of the stanzas, of the symbols whose names contain the text:
  std::string annotate;  // their instructions
  std::string callers;   // their callers
};

Result<void> PrintTprof(Recording& recording, const TprofOptions& options, Output& out);

// Instructions with the ticks beside each, for every symbol whose name contains `wanted`, the
// hottest first.
Result<void> PrintAnnotated(Recording& recording, const TickTable& table, std::string_view wanted,
                            Output& out);

// A line for each process, thread and call chain, outermost first, and its ticks, in the format of
// flame-graph tools. Without chains: the symbol that was hit.
void PrintCollapsed(Recording& recording, const TickTable& table, Output& out);

// The callers of the symbols whose names contain `wanted`, by ticks in these and what they called.
// Error: recorded without chains, or no chain has such a symbol.
Result<void> PrintCallers(Recording& recording, const TickTable& table, std::string_view wanted,
                          Output& out);

}  // namespace jprof::reports
