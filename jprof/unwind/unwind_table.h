// The unwind table of one module: .eh_frame compiled into sorted rows. It depends on nothing but
// these bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "common/page_allocator.h"
#include "jprof/unwind/call_frames.h"
#include "jprof/unwind/frame_bytes.h"
#include "jprof/unwind/frame_rule.h"
#include "jprof/unwind/machine.h"

namespace jprof::unwind {

class UnwindTable {
 public:
  // A row applies from its address up to the next row's.
  struct Row {
    uint32_t pc;
    uint32_t rule : 31;  // in rules(), or kGap
    uint32_t starts_function : 1;
  };
  static_assert(sizeof(Row) == 8);

  static constexpr uint32_t kGap = (1u << 31) - 1;  // no function

  UnwindTable() = default;
  // Compiles the table. Rows hold distances from code.low. `eh_frame` may extend beyond the
  // section's end mark; its bytes are untrusted.
  UnwindTable(FrameBytes eh_frame, CodeRange code, const Machine& machine);

  // Returns the row that applies at `pc`, or null if it is below the first row.
  const Row* Find(uint64_t pc) const;
  const FrameRule& RuleOf(const Row& row) const { return rules_[row.rule == kGap ? 0 : row.rule]; }
  // Returns the first row of the function that contains `row`, or null if `row` is
  // between functions.
  const Row* FunctionOf(const Row* row) const;

  const PageVector<Row>& rows() const { return rows_; }
  const std::vector<FrameRule>& rules() const { return rules_; }
  uint64_t Bytes() const {
    return rows_.capacity() * sizeof(Row) + rules_.capacity() * sizeof(FrameRule);
  }

 private:
  PageVector<Row> rows_;
  std::vector<FrameRule> rules_;  // the first one is unknown
};

}  // namespace jprof::unwind
