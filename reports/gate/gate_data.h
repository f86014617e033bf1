// Loads two profiles for a gate: one tree of calling contexts, and what each run of each profile
// measured in them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/combined/time_estimate.h"
#include "model/open/open.h"
#include "model/tree/joint_tree.h"

namespace jprof::reports {

// The values of one run by context, in the metric's unit.
struct RunValues {
  std::vector<double> values;
  std::vector<double> errors;  // about one standard deviation; empty if the values are exact
};

struct GateMetric {
  enum class Kind {
    kExact,      // calls and allocated objects, which every run counts
    kTime,       // CPU time: numbers of samples, which GateSide::times makes times of
    kUncertain,  // measured or sampled with errors
  };

  std::string name;
  std::string alias;  // as the profile calls it, if conditions may also call it so
  std::string unit;
  Kind kind = Kind::kExact;
  bool is_sampled = false;                     // its errors are independent of each other
  std::array<std::vector<RunValues>, 2> runs;  // of the base and of the new profile

  bool IsNamed(std::string_view wanted) const { return wanted == name || wanted == alias; }
  bool IsIn(size_t side) const { return !runs[side].empty(); }
};

struct GateSide {
  std::string directory;
  std::vector<std::string> notes;  // what was lost, a line each
  profile::RunSpreads usual;
  model::CombinedTree tree;               // with the samples of this side only
  std::optional<model::TimeModel> times;  // of `tree`
  size_t counted_runs = 0;
  double jvm_calls = 0;  // of all these runs, on threads of the JVM, which are left out
};

// Says why a call is of the JVM and not of the program.
enum class JvmCall : uint8_t {
  kNone,
  kInside,   // a method of the JDK that a method of the JDK called
  kLinking,  // class loading, linking and initialisation, and all below
};

struct GateData {
  GateData() = default;
  GateData(GateData&&) = default;  // never copied, as `times` refer to `tree`

  model::JointTree tree;           // only names and contexts, without amounts
  std::vector<JvmCall> jvm_calls;  // by context
  std::vector<GateMetric> metrics;
  std::array<GateSide, 2> sides;

  const GateMetric* Find(std::string_view metric) const;
};

using GateProgress = std::function<void(size_t done, size_t runs)>;

// Loads all runs, and calls `progress` after each. Fails if `base` or `now` is not a profile or is
// damaged, or if they have no method in common.
Result<GateData> LoadGate(
    model::Input& base, model::Input& now, const GateProgress& progress = [](size_t, size_t) {});

}  // namespace jprof::reports
