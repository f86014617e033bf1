// Loads one side of a comparison, and estimates how certain its amounts are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/result.h"
#include "model/tree/forest.h"
#include "model/tree/joint_tree.h"
#include "model/tree/source.h"
#include "model/values/statistics.h"
#include "reports/quality/quality.h"

namespace jprof::reports {

// One profile and the metric that it is compared by.
struct Side {
  std::string directory;
  std::string mode;
  std::string how;  // what its values are and how they came about, for people
  std::string metric;
  std::string unit;
  bool sampled = false;
  bool counted = false;            // sampled, and it is known by how many samples
  model::Amount inside;            // in methods, the whole that shares are of
  model::Amount outside;           // in threads, outside of any method that is compared
  std::vector<std::string> notes;  // damages and losses, a line each
  Quality quality = {};
};

// Loads the contexts of a profile with one metric, or with its first if `metric` is empty. Fails if
// the profile does not have it.
Result<model::Forest> LoadSide(model::Source& source, const std::string& metric);

// Describes a profile that was loaded by LoadSide. Its amounts are not measured yet.
Side SideOf(const model::Source& source, const model::Forest& forest);

// Sets the amounts of the side that has this index in the tree.
void MeasureSide(const model::JointTree& tree, size_t index, Side& side);

// Fails if nothing was measured in any method.
Result<void> CheckSide(const Side& side);

// Returns an amount of this side as text, in the unit that fits: "322 ms".
std::string AmountOf(const Side& side, const model::Amount& amount);

// Returns `part` in the unit of this side.
model::Estimate AbsoluteOf(const Side& side, const model::Amount& part);

// Returns `part` as a share of `whole`, both of this side.
model::Estimate ShareOf(const Side& side, const model::Amount& part, const model::Amount& whole);

}  // namespace jprof::reports
