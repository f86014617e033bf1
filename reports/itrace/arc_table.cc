#include "reports/itrace/arc_table.h"

#include <algorithm>

#include "reports/print/statistics.h"

namespace jprof::reports {

ArcTable MakeArcTable(ArcRecording& arcs, const ArcOptions& options) {
  ArcTable table = {.arcs = arcs, .options = options};
  table.trace = WalkArcs(arcs, options.tid);
  const ArcSums sums = SumUp(table.trace, arcs.code->functions().size());
  for (uint32_t number = 0; number < sums.functions.size(); ++number) {
    const FunctionSums& one = sums.functions[number];
    const bool is_empty = one.self == 0 && (one.calls == 0 || number == kThreadFunction);
    if (!is_empty && table.IsWanted(number))
      table.functions.push_back({.caller = {}, .function = number, .sums = one});
  }
  std::ranges::sort(table.functions, [&](const ArcRow& a, const ArcRow& b) {
    if (a.sums.self != b.sums.self) return a.sums.self > b.sums.self;
    return table.function(a.function).name < table.function(b.function).name;
  });
  for (const ArcSum& arc : sums.arcs) {
    if (!table.IsWanted(arc.caller) && !table.IsWanted(arc.callee)) continue;
    table.calls.push_back({.caller = arc.caller,
                           .function = arc.callee,
                           .sums = {.calls = arc.calls,
                                    .cumulative = arc.instructions,
                                    .outermost_calls = arc.outermost_calls}});
  }
  const auto shorten = [&](std::vector<ArcRow>& rows) {
    if (options.top > 0 && rows.size() > options.top) rows.resize(options.top);
  };
  shorten(table.functions);
  shorten(table.calls);
  return table;
}

}  // namespace jprof::reports
