// Computes the values of a trace's events: the change of the first metric since the thread's
// previous event, corrected. log-gen prints them, and exports of traces add them up to
// points in time.
#pragma once

#include <string>
#include <unordered_map>

#include "calibrate/model/table.h"
#include "model/tree/source.h"
#include "profile/read/reader_trace.h"

namespace jprof::model {

// The metric of the events. A trace without metrics has 0 in each.
struct TraceUnit {
  profile::Metric info;
  const calibrate::Metric* table = nullptr;  // null if it is not corrected
};

TraceUnit FirstMetric(const Source& source);

// Subtracts the trained cost from each event. The cost depends on the adjacent methods, so there is
// a shadow stack for each thread. A single interval cannot be below the real cost of the
// transition: values are clamped there.
class LineCorrector {
 public:
  explicit LineCorrector(const calibrate::Metric* metric) : metric_(metric) {}

  // Returns the event's value in raw units. `letter` is its method's. Requires a call for every
  // event, in order.
  double Value(const profile::TraceEvent& event, char letter);

 private:
  struct ExecutionState {
    std::string stack;  // letters
    EventKind previous = EventKind::kEntry;
  };

  const calibrate::Overhead& Cost(const calibrate::Key& key);

  const calibrate::Metric* metric_;
  std::unordered_map<uint32_t, ExecutionState> states_;
  std::unordered_map<uint32_t, calibrate::Overhead> known_;
};

}  // namespace jprof::model
