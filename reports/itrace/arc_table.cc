#include "reports/itrace/arc_table.h"

#include <algorithm>

#include "model/values/statistics.h"

namespace jprof::reports {

ArcTable MakeArcTable(model::ArcRecording& arcs, const Options& options) {
  ArcTable table = {.arcs = arcs, .options = options};
  table.trace = model::WalkArcs(arcs, options.tid);
  const model::ArcSums sums = model::SumUp(table.trace, arcs.code->functions().size());
  for (uint32_t number = 0; number < sums.functions.size(); ++number) {
    const model::FunctionSums& one = sums.functions[number];
    const bool is_empty = one.self == 0 && (one.calls == 0 || number == model::kThreadFunction);
    if (!is_empty && table.IsWanted(number))
      table.functions.push_back({.caller = {}, .function = number, .sums = one});
  }
  std::ranges::sort(table.functions, [&](const ArcRow& a, const ArcRow& b) {
    if (a.sums.self != b.sums.self) return a.sums.self > b.sums.self;
    return table.function(a.function).name < table.function(b.function).name;
  });
  for (const model::ArcSum& arc : sums.arcs) {
    if (!table.IsWanted(arc.caller) && !table.IsWanted(arc.callee)) continue;
    table.calls.push_back({.caller = arc.caller,
                           .function = arc.callee,
                           .sums = {.calls = arc.calls,
                                    .cumulative = arc.instructions,
                                    .outermost_calls = arc.outermost_calls}});
  }
  const auto shorten = [](std::vector<ArcRow>& rows, size_t most) {
    const size_t all = rows.size();
    rows.resize(std::min(all, most));
    return all - rows.size();
  };
  if (options.top > 0) {
    shorten(table.functions, options.top);
    shorten(table.calls, options.top);
  } else if (options.fits_screen()) {
    constexpr size_t kFunctions = 13, kCalls = 9;
    table.more_functions = shorten(table.functions, kFunctions);
    table.more_calls = shorten(table.calls, kCalls);
  } else if (options.for_people()) {
    const auto is_small = [&](const ArcRow& row) {
      const uint64_t most = std::max(row.sums.self, row.sums.cumulative);
      return model::PercentOf(most, table.trace.instructions) < options.percent();
    };
    table.more_functions = std::erase_if(table.functions, is_small);
    table.more_calls = std::erase_if(table.calls, is_small);
  }
  return table;
}

}  // namespace jprof::reports
