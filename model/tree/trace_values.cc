#include "model/tree/trace_values.h"

#include <algorithm>

namespace jprof::model {

TraceUnit FirstMetric(const Source& source) {
  const auto& metrics = source.reader.meta().metrics;
  TraceUnit unit;
  if (!metrics.empty()) unit.info = metrics.front();
  if (source.table) unit.table = source.table->Find(unit.info.calibrated_as());
  return unit;
}

double LineCorrector::Value(const profile::TraceEvent& event, char letter) {
  ExecutionState& state = states_[event.thread];
  if (event.missing > 0) state = {};
  const char top = state.stack.empty() ? Letter(FrameKind::kThread) : state.stack.back();
  calibrate::Key key = {state.previous, top, EventKind::kEntry, letter};
  if (event.exit) {
    if (!state.stack.empty()) state.stack.pop_back();
    const char parent = state.stack.empty() ? Letter(FrameKind::kThread) : state.stack.back();
    key = {state.previous, letter, EventKind::kExit, parent};
  } else {
    state.stack.push_back(letter);
  }
  state.previous = key.event;
  const double delta = static_cast<double>(event.delta);
  if (metric_ == nullptr) return delta;
  const calibrate::Overhead& cost = Cost(key);
  return std::max(delta - cost.overhead, cost.truth);
}

const calibrate::Overhead& LineCorrector::Cost(const calibrate::Key& key) {
  const uint32_t packed = static_cast<uint32_t>(key.previous) << 17 |
                          static_cast<uint32_t>(key.event) << 16 |
                          static_cast<uint32_t>(static_cast<uint8_t>(key.running)) << 8 |
                          static_cast<uint8_t>(key.other);
  const auto [known, is_new] = known_.try_emplace(packed);
  if (is_new) known->second = Lookup(*metric_, key).value;
  return known->second;
}

}  // namespace jprof::model
