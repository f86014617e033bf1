// Combines exact counts and production times in one tree (docs/REPORTS.md, "combined"): what a
// counted run and sampled runs of the same program show about each calling context, and how the
// runs differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/combined/combined_tree.h"
#include "model/combined/time_estimate.h"
#include "model/tree/source.h"
#include "profile/read/combined.h"

namespace jprof::model {

// An open combined profile.
struct Combined {
  // Has the first counted run at the front, and no other counted one.
  profile::CombinedMeta meta;
  std::string directory;
  Source counted;
  std::vector<Source> sampled;
  std::vector<Source> recounted = {};  // other counted runs, which show what varies
};

// The known properties of one run.
struct RunSummary {
  profile::Run run;
  std::string how;  // "calltree with folded recursion", "1000 samples per second of CPU time"
  double cpu_seconds = 0;          // of the recorded Java threads; 0 if unknown
  uint64_t methods = 0;            // Java methods seen
  uint64_t calls = 0;              // counted run
  double samples = 0;              // sampled run
  std::vector<std::string> notes;  // losses and damages, a line each
};

// A difference between runs that a reader should know of.
struct RunDifference {
  double size = 0;  // relative
  std::string text;
};

struct CombinedView {
  CombinedView() = default;
  CombinedView(CombinedView&&) = default;  // never copied, as `times` refers to `tree`

  CombinedTree tree;
  std::optional<TimeModel> times;
  RunSummary counted;
  std::vector<RunSummary> sampled;
  std::vector<RunDifference> differences;
  // Maps a row of the counted profile's merged forest to its context, or to kNoNode if the row was
  // added to its caller's.
  std::vector<NodeIndex> context_of;
  bool calibrated = false;  // times of the counted run

  // These are estimates for contexts with few samples, by context: mean ns of a run, alone and
  // with all below.
  std::vector<double> estimated_own, estimated_all;

  // These are shares, from 0 to 1, of all samples unless stated.
  double uncounted = 0;        // in methods that the counted run did not see in that context
  double outside = 0;          // outside any Java method
  double calls_unsampled = 0;  // share of all calls, in contexts without a sample
  uint64_t counted_contexts = 0, sampled_contexts = 0, common_contexts = 0;
};

// The times of a context, means over runs. Where its time may have been attributed to its caller,
// because it was or could have been inlined, the intervals extend to the caller's own time.
struct ContextTimes {
  Estimate own, all;  // ns
  Estimate share;     // of all in the whole, from 0 to 1
};
ContextTimes TimesOf(const CombinedView& view, NodeIndex context);

// Returns whether the context's time may have been attributed to its caller: it was inlined, or it
// was called but never sampled and could have been inlined. C2 does not record which instructions
// belong to the inlined method where it unrolls a loop.
bool MayHideInCaller(const CombinedTree& tree, NodeIndex context);

// Returns whether the context has too few samples for more than an estimate and the upper end of
// the interval.
bool IsEstimated(const CombinedView& view, NodeIndex context);

// Returns the production times by row of the counted profile's merged forest.
ProductionTimes ProductionOf(const CombinedView& view);

// Fails if the counted profile has no calls, if a sampled one has no samples of time, or if they
// have no method in common.
Result<CombinedView> LoadCombined(Combined& combined);

// Loads only the counted run, without times. Fails if it has no calls.
Result<CombinedView> LoadCounted(Combined& combined);

}  // namespace jprof::model
