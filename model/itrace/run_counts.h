// Counts exactly how often each instruction of a trace was executed, from its straight runs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/flat_map.h"
#include "model/itrace/arc_code.h"

namespace jprof::model {

// The instructions from the byte at `offset` on, up to the next such offset, were
// executed `count` times.
struct ExecutedFrom {
  uint64_t offset = 0, count = 0;
};

// The memory that this needs depends on what was executed, not on the size of the code.
class RunCounts {
 public:
  explicit RunCounts(ArcCode& code) : code_(code) {}

  void Add(const StraightRun& run);

  // Returns the counts by offset in the piece's code; the last count is 0. The result is empty if
  // nothing was executed.
  std::vector<ExecutedFrom> Executed(uint32_t piece) const;
  bool IsExecuted(uint32_t piece) const { return piece < last_.size() && last_[piece] != kNone; }
  // Returns how often the conditional branch at that byte was taken.
  uint64_t Taken(uint32_t piece, uint64_t offset) const;
  size_t pieces() const { return last_.size(); }

 private:
  static constexpr uint32_t kNone = FlatMap::kNone;
  // A change of the number of executions from that of the byte before.
  struct Change {
    uint32_t offset = 0;
    uint32_t previous = kNone;  // the piece's change that was added before
    int64_t by = 0;
  };

  void AddChange(uint32_t piece, uint64_t offset, int64_t by);

  ArcCode& code_;
  FlatMap places_;  // piece << 32 | offset -> its change
  std::vector<Change> changes_;
  std::vector<uint32_t> last_;                    // the change of each piece that was added last
  std::unordered_map<uint64_t, uint64_t> taken_;  // piece << 32 | offset
};

}  // namespace jprof::model
