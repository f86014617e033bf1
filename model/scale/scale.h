// Shows how exact counts and sampled times of a program grow with the size of its input
// (docs/SCALE.md): the calling contexts of runs of several sizes, matched by the names of the
// methods on their paths as CombinedTree has them, with the laws by which they grow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/combined/combined.h"
#include "model/scale/scaling_fit.h"
#include "profile/read/scale_meta.h"

namespace jprof::model {

// An open result of `jprof scale`.
struct Scale {
  profile::ScaleMeta meta;
  std::string directory;
  std::vector<Combined> runs;  // by size; sampled ones may be missing
};

// States how a method or a context grows. Vectors are by size.
struct ScaleRow {
  uint32_t name = 0;            // in ScaleView::names
  NodeIndex context = kNoNode;  // kNoNode: a method, the sum of its contexts
  size_t contexts = 1;          // that the row stands for
  bool is_part = false;         // it is one of the contexts of the method before it
  std::vector<double> calls;    // exact
  std::vector<Estimate> times;  // own, in ns, mean of a run; empty without sampled runs
  std::optional<Scaling> law;   // of the calls; none if fewer than two sizes have any
  // The exponent of the own time, by the sizes with at least kFewSamples samples; none if there are
  // fewer than two.
  std::optional<Estimate> time_exponent;
  // The part of the whole own time of the largest size, from 0 to 1, where few samples are
  // estimated as in a combined profile; without sampled runs that of the calls.
  double share = 0;
  // The same at kFarther times the largest size, if all grows on like this: times as time_exponent
  // says if its arm is at most kUsableArm, else as the calls do.
  double share_farther = 0;
};

inline constexpr double kFarther = 10;
inline constexpr double kUsableArm = 0.25;

struct ScaleContext : Node {
  uint32_t name = 0;
};

struct ScaleView {
  std::vector<double> sizes;
  std::vector<std::string> names;
  std::vector<ScaleContext> contexts = std::vector<ScaleContext>(1);  // 0: the threads themselves
  // The methods with the largest share_farther first, each followed by its contexts in that order
  // if it has several.
  std::vector<ScaleRow> rows;
  std::vector<RunSummary> counted;  // by size
  bool has_times = false;           // every size was sampled
  double farther() const { return kFarther * sizes.back(); }
};

// Fails as LoadCombined does, and if no method was counted in two sizes.
Result<ScaleView> LoadScale(Scale& scale);

}  // namespace jprof::model
