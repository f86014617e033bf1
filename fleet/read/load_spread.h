// How the values of contexts differ between the runs of a selection.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "fleet/read/context_rows.h"
#include "profile/merge/spread.h"

namespace jprof::fleet {

struct FoldedSpread {
  uint64_t present = 0;                // runs that have the context
  std::vector<profile::Range> ranges;  // of calls and each metric, over all drawn runs
};

struct LoadedSpread {
  size_t drawn = 0;
  bool sampled = false;                                  // not all runs were drawn
  std::unordered_map<ContextId, FoldedSpread> contexts;  // by the context without sites
};

// Returns at most kSpreadRuns of the runs, drawn by the numbers of their pushes, which are random.
std::vector<SelectedRun> Drawn(std::vector<SelectedRun> runs);

// Computes the spread over kSpreadRuns runs, or all if there are fewer.
Result<LoadedSpread> LoadSpread(Server& server, const std::vector<SelectedRun>& runs);

// Returns it for the contexts of the tree. A row of hidden contexts has none.
profile::Spread SpreadOf(const LoadedSpread& loaded, size_t runs, const ContextRows& contexts,
                         const std::vector<uint32_t>& context_of, const profile::MergedTree& tree,
                         size_t metric_count);

}  // namespace jprof::fleet
