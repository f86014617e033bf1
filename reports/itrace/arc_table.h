// Makes the rows of the report arc, and prints its head.
#pragma once

#include <optional>
#include <vector>

#include "reports/itrace/arc.h"
#include "reports/print/json_writer.h"
#include "reports/tree/outline.h"

namespace jprof::reports {

// A row of the table of functions or of the table of calls.
struct ArcRow {
  std::optional<uint32_t> caller;  // empty for a function
  uint32_t function = 0;           // or the callee
  model::FunctionSums sums;
};

struct ArcTable {
  model::ArcRecording& arcs;
  const Options& options;
  model::ArcTrace trace = {};
  std::vector<ArcRow> functions = {};         // the most instructions of their own first
  std::vector<ArcRow> calls = {};             // the most instructions first
  size_t more_functions = 0, more_calls = 0;  // that text leaves out

  const model::ArcFunction& function(uint32_t number) const {
    return arcs.code->functions()[number];
  }
  bool IsWanted(uint32_t number) const { return function(number).name.contains(options.function); }
};

// Walks over the trace. The table refers to the arguments, which must outlive it.
ArcTable MakeArcTable(model::ArcRecording& arcs, const Options& options);

void PrintArcHead(const ArcTable& table, Output& out);
void JsonArcHead(const ArcTable& table, JsonWriter& json);

}  // namespace jprof::reports
