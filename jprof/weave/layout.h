// Determines where the instructions of a method are after the insertions, and writes the
// code itself.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "jprof/weave/insertions.h"
#include "jprof/weave/instructions.h"

namespace jprof::weave {

class Output;

// One object may be used for many methods, one after another, and keeps its memory.
class Layout {
 public:
  static constexpr uint32_t kNowhere = ~uint32_t{0};

  // Determines the layout. `handlers` are the offsets of the exception handlers in ascending
  // order, each once. They, the code and the insertions must remain valid until the last use of
  // this layout.
  Result<void> Place(std::string_view code, std::span<const uint16_t> handlers,
                     const Insertions& insertions);

  // Appends the code. Returns false, with incomplete output, if a jump would exceed 16 bits.
  Result<bool> Write(Output& out) const;

  uint32_t old_size() const { return static_cast<uint32_t>(code_.size()); }
  uint32_t new_size() const { return UnwindAt() + insertions_->at_unwind.size(); }
  // Returns the new offset at which the instructions appended to the code begin.
  uint32_t EndOfCode() const { return at_.back(); }
  // Returns the new offset of the handler of what leaves a synchronized method.
  uint32_t UnwindAt() const { return EndOfCode() + static_cast<uint32_t>(tail().size()); }
  bool has_monitors() const { return has_monitors_; }
  std::span<const uint16_t> returns() const { return returns_; }  // old offsets
  // Returns the new offset of the instructions inserted before the return at an old offset.
  uint32_t ReturnCallAt(uint32_t old) const;

  // Returns where jumps to the instruction at an old offset lead: to what is inserted before it or,
  // for offset 0, behind what is inserted at the entry. Returns kNowhere if no instruction begins
  // there. The end of the code is an offset, too.
  uint32_t JumpTarget(uint32_t old) const { return old < at_.size() ? at_[old] : kNowhere; }

  // Returns where the instruction itself is, or kNowhere as above and at the end of the code.
  uint32_t InstructionAt(uint32_t old) const;

  // Returns an offset for tables that only serve debuggers: the entry counts as part of the
  // instruction at 0, and an offset inside an instruction as its beginning.
  uint32_t DebugOffset(uint32_t old) const;

 private:
  uint32_t Inserted(uint32_t old) const;
  // Returns what is inserted before the instruction at an old offset because of what it is.
  std::string_view Before(uint32_t old) const;
  bool IsHandler(uint32_t old) const;
  std::string_view tail() const;
  // Returns the distance from the instruction at old offset `from` to the target of its jump,
  // or kFailed.
  static constexpr int64_t kFailed = INT64_MIN;
  int64_t Jump(uint32_t from, int64_t distance) const;
  Result<bool> WriteInstruction(uint32_t old, Kind kind, Output& out, size_t start) const;
  bool WriteSwitch(uint32_t old, Output& out, size_t start) const;

  std::string_view code_;
  std::span<const uint16_t> handlers_;
  const Insertions* insertions_ = nullptr;
  std::vector<uint32_t> at_;      // JumpTarget by old offset
  std::vector<uint16_t> points_;  // old offsets of all instructions that are not just copied
  std::vector<uint16_t> returns_;
  bool has_monitors_ = false;
};

}  // namespace jprof::weave
