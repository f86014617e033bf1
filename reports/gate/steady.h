// Finds which calls are the same in all runs of a profile, and which vary from run to run.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "reports/gate/gate_data.h"

namespace jprof::reports {

struct GateKeptOut;

// A context is steady if its value is the same in all runs of the base and in all of the new
// profile, and if that is so of the contexts above it, except for calls inside the JDK. With one
// run of a profile, nothing is known to vary.
class Steady {
 public:
  Steady(const GateData& data, const GateMetric& metric);

  const GateMetric& metric() const { return metric_; }
  bool IsSteady(model::NodeIndex context) const { return !varies_[context]; }

  // Returns the methods whose varying contexts have together the same value in all runs, because
  // their calls only came from elsewhere, with that value of each side.
  using Moved = std::vector<std::pair<uint32_t, std::array<double, 2>>>;
  Moved MovedOf(const std::vector<bool>& selected) const;

  // Returns what is kept out of conditions that name no methods.
  GateKeptOut KeptOut() const;

 private:
  struct MethodRuns {
    size_t contexts = 0;
    std::array<std::vector<double>, 2> runs;
  };
  // Returns the sums of the varying contexts by method; methods without any have no runs.
  std::vector<MethodRuns> ByMethod(const std::vector<bool>& selected) const;
  double MeanOfBase(model::NodeIndex context) const;

  const GateData& data_;
  const GateMetric& metric_;
  std::vector<bool> varies_;  // by context
};

}  // namespace jprof::reports
