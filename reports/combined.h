// Exact counts and production times in one tree (docs/REPORTS.md, "combined"): what a counted run
// and sampled runs of the same program say about each calling context, and about each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/combined.h"
#include "reports/combined_tree.h"
#include "reports/output.h"
#include "reports/source.h"
#include "reports/time_estimate.h"

namespace jprof::reports {

// An open combined profile.
struct Combined {
  profile::CombinedMeta meta;
  std::string directory;
  Source counted;
  std::vector<Source> sampled;
};

// One run, as far as it is known.
struct RunFacts {
  profile::Run run;
  std::string how;  // "calltree with folded recursion", "1000 samples per second of CPU time"
  double cpu_seconds = 0;          // of the Java threads that were recorded; 0: not known
  uint64_t methods = 0;            // Java methods seen
  uint64_t calls = 0;              // counted run
  double samples = 0;              // sampled run
  std::vector<std::string> notes;  // losses and damages, a line each
};

// A difference between runs that a reader should know of, the largest first.
struct RunDifference {
  double size = 0;  // relative
  std::string text;
};

struct CombinedView {
  CombinedView() = default;
  CombinedView(CombinedView&&) = default;  // not copied: `times` refers to `tree`

  CombinedTree tree;
  std::optional<TimeModel> times;
  RunFacts counted;
  std::vector<RunFacts> sampled;
  std::vector<RunDifference> differences;
  // By row of the counted profile's merged forest; kNoRow: added to its caller's.
  std::vector<uint32_t> context_of;
  bool calibrated = false;  // times of the counted run

  // Estimates for contexts with few samples: ns of one run, alone and with all below, by context.
  std::vector<double> estimated_own, estimated_all;

  // Shares of all samples, from 0 to 1.
  double uncounted = 0;        // in methods that the counted run did not see in that context
  double outside = 0;          // outside any Java method
  double calls_unsampled = 0;  // share of calls in contexts without a sample
  uint64_t counted_contexts = 0, sampled_contexts = 0, common_contexts = 0;
};

// The times of a context in one run. Where its time may have been attributed to its caller, because
// it was or could have been inlined, the intervals extend to the caller's own time.
struct ContextTimes {
  Estimate own, all;  // ns
  Estimate share;     // of all in the whole, from 0 to 1
};
ContextTimes TimesOf(const CombinedView& view, uint32_t context);

// Whether it has too few samples to say more than an estimate and the upper end of the interval.
bool IsEstimated(const CombinedView& view, uint32_t context);

// The production times of each row of the counted profile's merged forest.
ProductionTimes ProductionOf(const CombinedView& view);

// The words of a command without the agent.
std::string CommandText(const std::vector<std::string>& command);

// Error: a profile has no calls, no samples of time, or the profiles have no method in common.
Result<CombinedView> LoadCombined(Combined& combined);

// The report. Formats: kTreeFormats.
Result<void> PrintCombined(Combined& combined, const Options& options, Output& out);

}  // namespace jprof::reports
