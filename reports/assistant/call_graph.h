// Holds the calling contexts of any input that has a tree of calls, with values that add up over
// contexts and become estimates with intervals: the answers about methods are sums over it.
// Invariants: context 0 represents the threads; a context's parent is before it; names are
// printable, and no two are equal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/open/open.h"
#include "reports/print/estimate_text.h"
#include "reports/quality/head.h"

namespace jprof::reports::assistant {

struct CallContext : model::Node {
  uint32_t name = 0;  // in CallGraph::names
  uint64_t calls = 0;
  std::optional<uint64_t> outermost_calls;  // nothing if recursion was folded
};

// What some contexts have together. `all` and the outermost calls are of those that are not below
// another one of them.
struct CallSum {
  uint64_t calls = 0;
  std::optional<uint64_t> outermost_calls = 0;
  uint64_t contexts = 0;
  std::vector<double> own, all;
};

struct CallValues {
  ShownTime own, all;                // in CallGraph::unit
  model::Estimate own_share, share;  // of the whole, from 0 to 1
};

struct CallGraph {
  std::vector<std::string> names;
  std::vector<CallContext> contexts;
  bool has_calls = false;   // they were counted
  size_t width = 0;         // numbers of each context; 0 if only calls were recorded
  std::vector<double> own;  // [context * width + number]
  std::vector<double> all;  // with all contexts below
  std::string unit;         // of values: "ns", "bytes"
  std::string metric;       // "time", "instructions"
  std::function<CallValues(const CallSum& sum)> values;
  Head head;  // what the input is
  Quality quality;

  // Adds a context to a sum.
  void AddTo(CallSum& sum, model::NodeIndex context, bool outermost) const;
};

// Loads the contexts of an input, with one metric (the first one if `metric` is empty). Requires
// that `input` outlives the graph. Fails if it has no tree of calls, or no such metric.
Result<CallGraph> LoadCallGraph(model::Input& input, const std::string& metric);

}  // namespace jprof::reports::assistant
