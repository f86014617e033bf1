#include "reports/tree/hottest.h"

#include <algorithm>
#include <cmath>

#include "common/terminal_cells.h"
#include "model/sums/flat.h"
#include "model/values/statistics.h"
#include "reports/print/fit.h"
#include "reports/print/units.h"

namespace jprof::reports {
std::vector<Hottest> HottestOf(model::Forest& forest, const Options& options) {
  std::vector<model::MethodSum> sums = model::SumByMethod(forest, /*with_cumulative=*/false);
  const double whole = model::WholeOf(forest);
  std::erase_if(sums, [&](const model::MethodSum& sum) {
    return sum.method == profile::kRootMethod || !(model::OwnOf(forest, sum) > 0) || !(whole > 0);
  });
  sums.resize(std::min(sums.size(), kHottest));
  const std::vector<model::MainCaller> callers = model::MainCallers(forest, sums);
  std::vector<Hottest> methods;
  for (size_t i = 0; i < sums.size(); ++i) {
    const bool sampled = forest.calls == 0 && sums[i].samples > 0;
    Hottest& hot = methods.emplace_back();
    hot.share = model::PercentOf(model::OwnOf(forest, sums[i]), whole);
    hot.name = forest.names.In(options.names, sums[i].method);
    hot.is_java = (forest.names.Parts(sums[i].method).flags & profile::kMethodNotJava) == 0;
    hot.count = sampled ? Counted(sums[i].samples, "sample", "samples")
                        : Counted(sums[i].calls, "call", "calls");
    hot.note = model::AboveWholeText(forest, model::OwnOf(forest, sums[i]));
    if (callers[i].method == profile::kRootMethod) continue;
    hot.caller = forest.names.In(ShortOf(options.names), callers[i].method);
    hot.caller_share = callers[i].share;
  }
  return methods;
}

namespace {

// Returns "3 calls, 97 % by Demo.main".
std::string CountAndCaller(const Hottest& hot) {
  if (hot.caller.empty()) return hot.count;
  if (hot.caller_share > 0.995) return fmt::format("{}, by {}", hot.count, hot.caller);
  return fmt::format("{}, {:.0f} % by {}", hot.count, 100 * hot.caller_share, hot.caller);
}

// Returns the line. If it is wider than `width`, the caller is left out where it would leave too
// little space for the name, and the name is shortened.
std::string Line(const Hottest& hot, std::string_view label, size_t width) {
  const std::string begin = fmt::format(" {:<9} {:5.1f} %  ", label, hot.share);
  const std::string note = hot.note.empty() ? "" : "; " + hot.note;
  std::string end = "  " + CountAndCaller(hot) + note;
  if (width == 0) return begin + Shortened(hot.name) + end;
  constexpr size_t kLeast = 24;
  const auto room = [&] {
    const size_t used = begin.size() + Cells(end);
    return used < width ? width - used : 0;
  };
  if (room() < std::min(kLeast, Cells(hot.name))) end = "  " + hot.count + note;
  return begin + (hot.is_java ? Fitted : Cut)(hot.name, std::max(room(), kLeast)) + end;
}

}  // namespace

void PrintHottest(std::span<const Hottest> methods, const Options& options, Output& out) {
  for (const Hottest& hot : methods)
    out.Text(Line(hot, &hot == methods.data() ? "hottest" : "", options.width) + "\n");
}

}  // namespace jprof::reports
