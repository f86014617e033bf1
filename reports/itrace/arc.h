// Prints the report arc: the functions and the calls of an instruction trace, with exact numbers of
// instructions and calls.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "reports/itrace/arc_recording.h"
#include "reports/itrace/run_counts.h"
#include "reports/print/formats.h"
#include "reports/print/output.h"

namespace jprof::reports {

struct ArcOptions {
  Format format = Format::kText;
  double min_percent = 0;       // hides smaller shares of all instructions (text, Markdown)
  uint32_t top = 0;             // rows of each table, 0 for all
  std::optional<uint32_t> tid;  // only this thread
  bool merged = false;          // collapsed stacks of all threads as one tree
  bool listing = false;  // instructions instead of tables, each with how often it was executed
  std::string function;  // only functions whose names contain this, and their arcs
};

// Prints the report. Fails if the format is not offered, if no thread or function matches the
// options, or if Capstone cannot read this machine's code.
Result<void> PrintArc(ArcRecording& arcs, const ArcOptions& options, Output& out);

// Prints the stacks of the trace with the instructions of each, for flame-graph tools.
void PrintArcStacks(const ArcRecording& arcs, const ArcTrace& trace, bool merged, Output& out);

// Prints the instructions of the hottest functions.
Result<void> PrintArcListing(ArcRecording& arcs, const ArcOptions& options, Output& out);

// Calls `visit` with the listing of each function that `options` choose, the hottest first. Returns
// their number.
Result<size_t> ListArcFunctions(
    ArcRecording& arcs, const ArcTrace& trace, const RunCounts& counts, const ArcOptions& options,
    const std::function<void(uint32_t function, const std::string& text)>& visit);

}  // namespace jprof::reports
