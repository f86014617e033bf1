// Prints the report tprof, which shows where the whole machine spent its time, flat: the ticks of a
// recording as the eight classic stanzas, and other views of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/ticks/recording.h"
#include "model/tree/readable_name.h"
#include "reports/print/formats.h"
#include "reports/print/output.h"

namespace jprof::reports {

struct TprofOptions {
  Format format = Format::kText;
  // Rows below this percentage of all ticks are summed up in one. Without it, text is one stanza
  // that fits a screen.
  std::optional<double> clip;
  model::NameForm names = model::NameForm::kFull;  // of text
  size_t width = 0;                                // of text, in cells; 0 for any
  bool by_line = false;  // source lines below the symbols of Module_Symbol
  // These replace the stanzas, for the symbols whose names contain the text:
  std::string annotate;  // their instructions
  std::string callers;   // their callers
};

Result<void> PrintTprof(model::Recording& recording, const TprofOptions& options, Output& out);

// Prints the instructions, with the ticks beside each, of every symbol whose name contains
// `wanted`, the hottest first.
Result<void> PrintAnnotated(model::Recording& recording, const model::TickTable& table,
                            std::string_view wanted, Output& out);

// Prints a line for each process, thread and call chain, outermost first, and its ticks, in the
// format of flame-graph tools. A recording without chains has the symbol that was hit instead.
void PrintCollapsed(model::Recording& recording, const model::TickTable& table, Output& out);

// Prints the callers of the symbols whose names contain `wanted`, by ticks in these and what they
// called. Fails if the recording has no chains, or if no chain has such a symbol.
Result<void> PrintCallers(model::Recording& recording, const model::TickTable& table,
                          std::string_view wanted, Output& out);

}  // namespace jprof::reports
