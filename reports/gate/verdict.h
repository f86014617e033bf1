// Decides whether conditions of a gate are violated, and finds the methods and contexts that are to
// blame. A call that differs between runs of one profile is kept out. Pure.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/values/statistics.h"
#include "reports/gate/condition.h"
#include "reports/gate/gate_data.h"

namespace jprof::reports {

// What a mean run of the base and of the new profile has of something, and how that differs.
struct GateChange {
  model::Estimate base, now, absolute;
  model::Estimate relative;  // to the base; infinite if that has none
};

// A method, or one of its contexts.
struct GateItem {
  uint32_t name = 0;                          // in GateData::tree
  model::NodeIndex context = model::kNoNode;  // none if it is the method in all contexts
  GateChange change;
};

struct ConditionVerdict {
  Condition condition;
  const GateMetric* metric = nullptr;
  bool violated = false;
  GateChange change;               // of all together; unused if each is compared by itself
  size_t compared = 0;             // methods or contexts, if each is compared by itself
  size_t violating = 0;            // of these
  std::vector<GateItem> methods;   // that are to blame, the worst first
  std::vector<GateItem> contexts;  // likewise
};

// A method whose contexts differ between runs.
struct GateVaries {
  uint32_t name = 0;
  size_t contexts = 0;
  struct Runs {
    double least = 0, most = 0;
  };
  std::array<Runs, 2> runs;  // of all these contexts together
};

// What is kept out of conditions about an exact metric.
struct GateKeptOut {
  const GateMetric* metric = nullptr;
  std::vector<GateVaries> varies;  // those that vary most first
  size_t varying_contexts = 0;
  double varying = 0;              // what a mean run of the base has in them
  double inside = 0, linking = 0;  // likewise, of calls of the JVM (JvmCall)
  double whole = 0;
  // Returns whether only one run of a profile is known, so that none can differ from another.
  bool is_unknown() const { return metric->runs[0].size() < 2 || metric->runs[1].size() < 2; }
};

struct Verdict {
  std::vector<ConditionVerdict> conditions;  // in the order in which they were given
  std::vector<GateKeptOut> kept_out;         // one for each exact metric of a condition
  size_t violated = 0;                       // conditions
};

// Lists at most `top` methods and contexts of each condition. The verdict refers to `data`. Fails
// with kWrongUse if a profile does not have the metric of a condition, if no method matches a
// pattern, or if a bound has the unit of another metric.
Result<Verdict> Judge(const GateData& data, const std::vector<Condition>& conditions, size_t top);

}  // namespace jprof::reports
