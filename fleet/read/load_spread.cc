#include "fleet/read/load_spread.h"

#include <algorithm>

#include "fleet/read/load.h"
#include "fleet/server/row_binary.h"

namespace jprof::fleet {
namespace {

// Returns the SQL of minimum, median and maximum of a column of the inner query, over `runs` runs
// of which those without a row count as 0. The median is the lower one of the two in the middle.
std::string RangeSql(const std::string& column, size_t runs) {
  const size_t middle = (runs - 1) / 2;
  return fmt::format(
      "if(count() < {1}, least(min({0}), 0), min({0})), "
      "if({2} < countIf({0} < 0), arrayElement(arraySort(groupArray({0})), {2} + 1), "
      "if({2} < countIf({0} < 0) + {1} - count(), 0, "
      "arrayElement(arraySort(groupArray({0})), "
      "greatest(1, toInt64({2}) - toInt64({1}) + toInt64(count()) + 1)))), "
      "if(count() < {1}, greatest(max({0}), 0), max({0}))",
      column, runs, middle);
}

}  // namespace

std::vector<SelectedRun> Drawn(std::vector<SelectedRun> runs) {
  if (runs.size() <= kSpreadRuns) return runs;
  std::ranges::nth_element(runs, runs.begin() + kSpreadRuns, {}, &SelectedRun::push);
  runs.resize(kSpreadRuns);
  return runs;
}

Result<LoadedSpread> LoadSpread(Server& server, const std::vector<SelectedRun>& runs) {
  const std::vector<SelectedRun> drawn = Drawn(runs);
  LoadedSpread loaded = {
      .drawn = drawn.size(), .sampled = drawn.size() < runs.size(), .contexts = {}};
  const size_t metrics = runs.front().MetricNames().size();
  std::string inner = "SELECT folded, toInt64(sum(entries_0) + sum(entries_1)) AS c0";
  std::string outer = "SELECT folded, count(), " + RangeSql("c0", drawn.size());
  for (size_t m = 1; m <= metrics; ++m) {
    inner += fmt::format(", sum(value_{0}) AS c{0}", m);
    outer += ", " + RangeSql(fmt::format("c{}", m), drawn.size());
  }
  const auto take = [&](RowReader& rows) {
    ContextId id(rows.Bytes(16));
    FoldedSpread row = {.present = rows.Get<uint64_t>(), .ranges = {}};
    for (size_t c = 0; c <= metrics; ++c) {
      const auto min = rows.Get<int64_t>(), median = rows.Get<int64_t>(), max = rows.Get<int64_t>();
      row.ranges.push_back({min, median, max});
    }
    if (rows.ok()) loaded.contexts[std::move(id)] = std::move(row);
  };
  const auto done = server.ForEachRow(
      fmt::format("{} FROM ({} FROM counts WHERE {} AND push GLOBAL IN selected GROUP BY folded, "
                  "push) GROUP BY folded",
                  outer, inner, DaysOf(drawn)),
      {PushesOf(drawn)}, take);
  if (!done) return std::unexpected(done.error());
  return loaded;
}

profile::Spread SpreadOf(const LoadedSpread& loaded, size_t runs, const ContextRows& contexts,
                         const std::vector<uint32_t>& context_of, const profile::MergedTree& tree,
                         size_t metric_count) {
  profile::Spread spread = {.inputs = static_cast<uint32_t>(runs),
                            .columns = static_cast<uint32_t>(1 + metric_count)};
  spread.present.resize(tree.folded_contexts());
  spread.ranges.resize(spread.present.size() * spread.columns);
  for (size_t i = 0; i < contexts.rows.size(); ++i) {
    if (contexts.rows[i].hidden) continue;
    const auto at = loaded.contexts.find(contexts.rows[i].folded);
    if (at == loaded.contexts.end()) continue;
    const size_t context = tree.folded(context_of[i]);
    const double present = static_cast<double>(at->second.present) * static_cast<double>(runs) /
                           static_cast<double>(loaded.drawn);
    spread.present[context] = static_cast<uint32_t>(present + 0.5);
    std::ranges::copy(at->second.ranges,
                      spread.ranges.begin() + static_cast<ptrdiff_t>(context * spread.columns));
  }
  return spread;
}

}  // namespace jprof::fleet
